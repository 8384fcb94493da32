#include "sched/graph.h"

#include <fmt/format.h>

#include "base/error.h"
#include "sched/event_graph.h"

namespace slackline::sched {
namespace {

// Calls visit(source, kind) for every arc into an event.
template <class Visit>
void for_each_kind_into(const Schedule& schedule, const ChannelOrder& order, EventId event,
                        bool with_posted, const Visit& visit) {
  const OpId id = event.op();
  const OpKind op = schedule.op(id).kind;
  const ArcKind of_match =
      op == OpKind::kRecv || op == OpKind::kPoll ? ArcKind::kMessage : ArcKind::kPosted;
  // Into an issue lead the schedule's edges first, then the order on its channel.
  std::size_t edges = event.is_done() ? 0 : schedule.edges_into(id).size();
  for_each_arc_into(schedule, order, event, with_posted, [&](EventId from) {
    if (event.is_done()) return visit(from.value, from.op() == id ? ArcKind::kOwn : of_match);
    visit(from.value, edges == 0 ? ArcKind::kOrder : ArcKind::kEdge);
    if (edges != 0) --edges;
  });
}

void require_countable(const Schedule& schedule) {
  // An operation has its own arc, one of its match, one of its channel and one from the entry.
  const std::uint64_t most = schedule.edges().size() + 4 * std::uint64_t{schedule.op_count()};
  if (most < EventGraph::null_vertex()) return;
  throw InputError(fmt::format("a graph of up to {} arcs; expected less than 2^32 - 1", most));
}

}  // namespace

EventGraph::EventGraph(const Schedule& schedule, const EventGraphOptions& options) {
  require_countable(schedule);
  const ChannelOrder order = channel_order(schedule);
  const std::uint32_t events = 2 * schedule.op_count();
  const std::uint32_t vertices = events + (options.entry ? 1 : 0);
  out_ = base::Grouped<Arc>(vertices, [&](auto&& take) {
    for (std::uint32_t event = 0; event < events; ++event) {
      bool waits = false;
      for_each_kind_into(schedule, order, EventId{event}, options.posted,
                         [&](std::uint32_t from, ArcKind kind) {
                           waits = true;
                           take(from, Arc{from, event, kind, 0});
                         });
      if (options.entry && !waits) take(events, Arc{events, event, ArcKind::kEntry, 0});
    }
  });
  std::uint32_t index = 0;
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    for (Arc& arc : out_[vertex]) arc.index = index++;
  }
  in_ = base::Grouped<std::uint32_t>(vertices, [&](auto&& take) {
    for (const Arc& arc : arcs()) take(arc.target, arc.index);
  });
}

std::string_view name(ArcKind kind) {
  constexpr std::string_view kNames[] = {"own", "edge", "message", "posted", "order", "entry"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace slackline::sched
