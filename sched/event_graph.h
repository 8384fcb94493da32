// The arcs of a schedule, as sched/op.h states them, over two events per operation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/grouped.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// Event 2·op is issued(op), 2·op + 1 is done(op).
struct EventId {
  std::uint32_t value = 0;
  static constexpr EventId issued(OpId op) { return {2 * op.value}; }
  static constexpr EventId done(OpId op) { return {2 * op.value + 1}; }
  constexpr OpId op() const { return OpId(value / 2); }
  constexpr bool is_done() const { return (value & 1) != 0; }
  friend constexpr auto operator<=>(EventId, EventId) = default;
};

/// Previous and next operation on the same side of the same channel, for every operation.
struct ChannelOrder {
  std::vector<OpId> previous;  // none() at the first
  std::vector<OpId> next;      // none() at the last
};
ChannelOrder channel_order(const Schedule& schedule);

/// For each operation the edges that leave it, as indices into Schedule::edges().
class SuccessorIndex {
 public:
  explicit SuccessorIndex(const Schedule& schedule);
  std::span<const std::uint32_t> edges_from(OpId op) const { return edges_[op.value]; }

 private:
  base::Grouped<std::uint32_t> edges_;
};

/// Calls `visit(pred_event)` for every arc into `event`. `with_posted` includes arc (d), which
/// counts for deadlock and time but not for proofs.
template <class Visit>
void for_each_arc_into(const Schedule& schedule, const ChannelOrder& order, EventId event,
                       bool with_posted, Visit&& visit) {
  const OpId id = event.op();
  const Op& op = schedule.op(id);
  if (!event.is_done()) {
    for (const Edge& edge : schedule.edges_into(id)) {
      visit(edge.on == On::kDone ? EventId::done(edge.pred) : EventId::issued(edge.pred));
    }
    if (order.previous[id.value].valid()) visit(EventId::issued(order.previous[id.value]));
    return;
  }
  visit(EventId::issued(id));
  if (!op.match.valid()) return;
  if (op.kind == OpKind::kRecv || op.kind == OpKind::kPoll) {
    visit(EventId::issued(op.match));
  } else if (with_posted && schedule.op(op.match).kind == OpKind::kRecv &&
             is_acknowledged(schedule.channel(op.channel).service)) {
    visit(EventId::issued(op.match));
  }
}

/// All events in an order that respects every arc, (d) included; nothing if there is a cycle.
/// The order is a function of the schedule alone.
std::optional<std::vector<EventId>> topological_order(const Schedule& schedule);

/// The operations of one cycle of arcs, each waiting for the next; empty if there is none.
std::vector<OpId> find_cycle(const Schedule& schedule);

}  // namespace slackline::sched
