#include "sched/event_graph.h"

#include <algorithm>

namespace slackline::sched {

ChannelOrder channel_order(const Schedule& schedule) {
  ChannelOrder order;
  order.previous.resize(schedule.op_count());
  order.next.resize(schedule.op_count());
  std::vector<OpId> last_initiator(schedule.channels().size());
  std::vector<OpId> last_receive(schedule.channels().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if (!has_channel(op.kind)) continue;
    OpId& last = (op.kind == OpKind::kRecv ? last_receive : last_initiator)[op.channel.value];
    if (last.valid()) {
      order.previous[i] = last;
      order.next[last.value] = OpId(i);
    }
    last = OpId(i);
  }
  return order;
}

SuccessorIndex::SuccessorIndex(const Schedule& schedule)
    : edges_(schedule.op_count(), [&](auto&& take) {
        const auto edges = schedule.edges();
        for (std::uint32_t i = 0; i < edges.size(); ++i) take(edges[i].pred.value, i);
      }) {}

namespace {

// Arcs out of an event, the mirror image of for_each_arc_into with (d) included.
template <class Visit>
void for_each_arc_out_of(const Schedule& schedule, const ChannelOrder& order,
                         const SuccessorIndex& successors, EventId event, Visit&& visit) {
  const OpId id = event.op();
  const Op& op = schedule.op(id);
  const On on = event.is_done() ? On::kDone : On::kIssued;
  for (std::uint32_t index : successors.edges_from(id)) {
    const Edge& edge = schedule.edges()[index];
    if (edge.on == on) visit(EventId::issued(edge.succ));
  }
  if (event.is_done()) return;
  if (order.next[id.value].valid()) visit(EventId::issued(order.next[id.value]));
  visit(EventId::done(id));
  if (!op.match.valid()) return;
  if (op.kind == OpKind::kPoll) return;
  if (op.kind == OpKind::kRecv && !is_acknowledged(schedule.channel(op.channel).service)) {
    return;
  }
  visit(EventId::done(op.match));
}

// Kahn's algorithm, first in first out; stops short of cycles. `waiting` is left with the number of
// arcs into each event that were not satisfied.
std::vector<EventId> settle(const Schedule& schedule, const ChannelOrder& order,
                            std::vector<std::uint32_t>& waiting) {
  const SuccessorIndex successors(schedule);
  const std::uint32_t events = 2 * schedule.op_count();
  waiting.assign(events, 0);
  for (std::uint32_t e = 0; e < events; ++e) {
    for_each_arc_into(schedule, order, EventId{e}, true, [&](EventId) { ++waiting[e]; });
  }
  std::vector<EventId> settled;
  settled.reserve(events);
  for (std::uint32_t e = 0; e < events; ++e) {
    if (waiting[e] == 0) settled.push_back(EventId{e});
  }
  for (std::size_t i = 0; i < settled.size(); ++i) {
    for_each_arc_out_of(schedule, order, successors, settled[i], [&](EventId next) {
      if (--waiting[next.value] == 0) settled.push_back(next);
    });
  }
  return settled;
}

}  // namespace

std::optional<std::vector<EventId>> topological_order(const Schedule& schedule) {
  const ChannelOrder order = channel_order(schedule);
  std::vector<std::uint32_t> waiting;
  std::vector<EventId> settled = settle(schedule, order, waiting);
  if (settled.size() != 2 * static_cast<std::size_t>(schedule.op_count())) return std::nullopt;
  return settled;
}

std::vector<OpId> find_cycle(const Schedule& schedule) {
  const ChannelOrder order = channel_order(schedule);
  std::vector<std::uint32_t> waiting;
  settle(schedule, order, waiting);
  const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](auto n) { return n != 0; });
  if (stuck == waiting.end()) return {};
  // Every stuck event waits for another stuck one: walk back until an event comes again.
  std::vector<std::uint32_t> seen_at(waiting.size(), 0);
  std::vector<EventId> walk;
  EventId event{static_cast<std::uint32_t>(stuck - waiting.begin())};
  while (seen_at[event.value] == 0) {
    walk.push_back(event);
    seen_at[event.value] = static_cast<std::uint32_t>(walk.size());
    EventId cause = event;
    for_each_arc_into(schedule, order, event, true, [&](EventId pred) {
      if (cause == event && waiting[pred.value] != 0) cause = pred;
    });
    event = cause;
  }
  std::vector<OpId> cycle;
  for (std::size_t i = seen_at[event.value] - 1; i < walk.size(); ++i) {
    if (cycle.empty() || cycle.back() != walk[i].op()) cycle.push_back(walk[i].op());
  }
  if (cycle.size() > 1 && cycle.front() == cycle.back()) cycle.pop_back();
  return cycle;
}

}  // namespace slackline::sched
