#include "machine/run/graph.h"

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
    : schedule_(schedule), tree_(schedule, range), nodes_(std::size_t{tree_.nodes()} + 2) {
  struct Crossing {  // in and out of regions
    std::uint32_t pred;
    std::uint32_t succ;
    bool on_done;
  };
  std::vector<Crossing> crossings;
  std::vector<OpId> last(2 * schedule.channels().size());
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const sched::Op& o = schedule.op(range.id(i));
    if (!sched::has_channel(o.kind)) continue;
    OpId& previous = last[2 * o.channel.value + (o.kind == sched::OpKind::kRecv ? 1 : 0)];
    if (previous.valid()) {
      const auto [pred, succ] = tree_.lifted(previous, range.id(i));
      if (pred == range.place(previous) && succ == i) {
        nodes_[pred].next_on_channel = i;
        ++nodes_[i].waits;
      } else {
        crossings.push_back({pred, succ, tree_.is_region(pred)});
      }
    }
    previous = range.id(i);
  }
  const auto each_arc = [&](auto&& visit) {
    const auto edges = edges_into(schedule, range);
    if (tree_.empty()) {
      for (const sched::Edge& edge : edges) {
        visit(range.place(edge.pred), range.place(edge.succ), edge.on == sched::On::kDone);
      }
      return;
    }
    for (const sched::Edge& edge : edges) {
      const auto [pred, succ] = tree_.lifted(edge.pred, edge.succ);
      visit(pred, succ, tree_.is_region(pred) || edge.on == sched::On::kDone);
    }
    for (const Crossing& c : crossings) visit(c.pred, c.succ, c.on_done);
  };
  // Counted two places further on, so that a node's place is where its next arc goes while they are
  // filled in, and then where those of the node after it begin.
  each_arc([&](std::uint32_t pred, std::uint32_t succ, bool) {
    ++nodes_[pred + 2].first_out;
    ++nodes_[succ].waits;
  });
  std::uint32_t arcs = 0;
  for (Node& node : nodes_) {
    arcs += node.first_out;
    node.first_out = arcs;
  }
  arcs_.resize(arcs);
  each_arc([&](std::uint32_t pred, std::uint32_t succ, bool on_done) {
    arcs_[nodes_[pred + 1].first_out++] = {succ & 0x7fffffffu, on_done ? 1u : 0u};
  });
  nodes_.pop_back();
}

}  // namespace slackline::machine
