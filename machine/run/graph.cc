#include "machine/run/graph.h"

#include <algorithm>

namespace slackline::machine {

using sched::OpId;

namespace {

// They stand together, in the order of the operations that they come into.
std::span<const sched::Edge> edges_into(const sched::Schedule& schedule, sched::OpRange range) {
  if (range.count == 0) return {};
  const auto first = schedule.edges_into(range.first);
  const auto last = schedule.edges_into(range.id(range.count - 1));
  return {first.data(), last.data() + last.size()};
}

}  // namespace

RunGraph::RunGraph(const sched::Schedule& schedule, sched::OpRange range)
    : schedule_(schedule), tree_(schedule, range) {
  const std::size_t nodes = tree_.nodes();
  const std::span<const sched::Edge> edges = edges_into(schedule, range);
  nodes_.reserve(nodes + 1);
  if (tree_.empty()) {
    arcs_.reserve(edges.size());
    join_by_rank(edges);
  } else {
    nodes_.resize(nodes);
    join_lifted(edges);
  }
  nodes_.resize(nodes + 1, {0, static_cast<std::uint32_t>(arcs_.size()), kNoNode});
}

// The order of a channel: calls visit(previous, next) for two operations that follow each other on
// one, the second of them between two places of the range. Looks at the lanes of those, too.
template <class Visit>
void RunGraph::each_on_channel(std::uint32_t begin, std::uint32_t end, std::vector<OpId>& last,
                               const Visit& visit) {
  const sched::OpRange& range = tree_.range();
  for (std::uint32_t i = begin; i < end; ++i) {
    const sched::Op& o = schedule_.op(range.id(i));
    several_lanes_ = several_lanes_ || o.lane != 0;
    if (!sched::has_channel(o.kind)) continue;
    OpId& previous = last[2 * o.channel.value + (o.kind == sched::OpKind::kRecv ? 1 : 0)];
    if (previous.valid()) visit(previous, range.id(i));
    previous = range.id(i);
  }
}

// The nodes from `first` on get their arcs, `arc_at(n)` for each n below `count`. Nodes before them
// have theirs, and those after them have none yet.
template <class ArcAt>
void RunGraph::add_arcs(std::size_t first, std::size_t count, const ArcAt& arc_at) {
  for (std::size_t n = 0; n < count; ++n) {
    const Joined arc = arc_at(n);
    ++nodes_[arc.pred].first_out;
    ++nodes_[arc.succ].waits;
  }
  // A node's place is first where its arcs end. They are filled in from the last to the first, and
  // then it is where they begin.
  auto end = static_cast<std::uint32_t>(arcs_.size());
  for (std::size_t node = first; node < nodes_.size(); ++node) {
    end += nodes_[node].first_out;
    nodes_[node].first_out = end;
  }
  arcs_.resize(end);
  for (std::size_t n = count; n-- > 0;) {
    const Joined arc = arc_at(n);
    arcs_[--nodes_[arc.pred].first_out] = {arc.succ & 0x7fffffffu, arc.on_done ? 1u : 0u};
  }
}

// Rank by rank, since no arc goes from one to another: so what is written of a rank's nodes is
// written while they are in the cache.
void RunGraph::join_by_rank(std::span<const sched::Edge> edges) {
  const sched::OpRange& range = tree_.range();
  std::vector<OpId> last(2 * schedule_.channels().size());
  std::size_t first_edge = 0;
  for (std::uint32_t begin = 0; begin < range.count;) {
    const OpId past = schedule_.end_op(schedule_.op(range.id(begin)).rank);
    const std::uint32_t end = std::min(range.count, range.place(past));
    nodes_.resize(end);
    each_on_channel(begin, end, last, [&](OpId previous, OpId next) {
      nodes_[range.place(previous)].next_on_channel = range.place(next);
      ++nodes_[range.place(next)].waits;
    });
    std::size_t end_edge = first_edge;
    while (end_edge < edges.size() && edges[end_edge].succ < past) ++end_edge;
    const std::span<const sched::Edge> own = edges.subspan(first_edge, end_edge - first_edge);
    add_arcs(begin, own.size(), [&](std::size_t n) {
      const sched::Edge& edge = own[n];
      return Joined{range.place(edge.pred), range.place(edge.succ), edge.on == sched::On::kDone};
    });
    begin = end;
    first_edge = end_edge;
  }
}

// All at once, since a region's node stands behind those of all operations.
void RunGraph::join_lifted(std::span<const sched::Edge> edges) {
  const sched::OpRange& range = tree_.range();
  std::vector<Joined> crossings;  // of a channel's order, in and out of regions
  std::vector<OpId> last(2 * schedule_.channels().size());
  each_on_channel(0, range.count, last, [&](OpId previous, OpId next) {
    const auto [pred, succ] = tree_.lifted(previous, next);
    if (pred == range.place(previous) && succ == range.place(next)) {
      nodes_[pred].next_on_channel = succ;
      ++nodes_[succ].waits;
    } else {
      crossings.push_back({pred, succ, tree_.is_region(pred)});
    }
  });
  add_arcs(0, edges.size() + crossings.size(), [&](std::size_t n) {
    if (n >= edges.size()) return crossings[n - edges.size()];
    const auto [pred, succ] = tree_.lifted(edges[n].pred, edges[n].succ);
    return Joined{pred, succ, tree_.is_region(pred) || edges[n].on == sched::On::kDone};
  });
}

}  // namespace slackline::machine
