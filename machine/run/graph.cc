#include "machine/run/graph.h"

#include <numeric>

namespace slackline::machine {

using sched::OpId;

RunGraph::RunGraph(const sched::Schedule& schedule, sched::OpRange range)
    : schedule_(schedule),
      tree_(schedule, range),
      waits_(tree_.nodes(), 0),
      out_begin_(waits_.size() + 1, 0),
      next_on_channel_(range.count, kNoNode) {
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
        next_on_channel_[pred] = i;
        ++waits_[i];
      } else {
        crossings.push_back({pred, succ, tree_.is_region(pred)});
      }
    }
    previous = range.id(i);
  }
  const auto each_arc = [&](auto&& visit) {
    for (std::uint32_t i = 0; i < range.count; ++i) {
      for (const sched::Edge& edge : schedule.edges_into(range.id(i))) {
        const auto [pred, succ] = tree_.lifted(edge.pred, edge.succ);
        visit(pred, succ, tree_.is_region(pred) || edge.on == sched::On::kDone);
      }
    }
    for (const Crossing& c : crossings) visit(c.pred, c.succ, c.on_done);
  };
  each_arc([&](std::uint32_t pred, std::uint32_t succ, bool) {
    ++out_begin_[pred + 1];
    ++waits_[succ];
  });
  std::partial_sum(out_begin_.begin(), out_begin_.end(), out_begin_.begin());
  out_.resize(out_begin_.back());
  std::vector<std::uint32_t> fill(out_begin_.begin(), out_begin_.end() - 1);
  each_arc([&](std::uint32_t pred, std::uint32_t succ, bool on_done) {
    out_[fill[pred]++] = {succ & 0x7fffffffu, on_done ? 1u : 0u};
  });
}

}  // namespace slackline::machine
