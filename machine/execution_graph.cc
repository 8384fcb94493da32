#include "machine/execution_graph.h"

#include <numeric>

namespace slackline::machine {

using sched::OpId;

ExecutionGraph::ExecutionGraph(const sched::Schedule& schedule, const sched::RegionTree& regions)
    : waiting_for(schedule.op_count() + schedule.regions().size(), 0),
      out_begin(waiting_for.size() + 1, 0),
      next_on_channel(schedule.op_count()) {
  struct Crossing {  // in and out of regions
    std::uint32_t pred;
    std::uint32_t succ;
    bool on_done;
  };
  std::vector<Crossing> crossings;
  std::vector<OpId> last(2 * schedule.channels().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& o = schedule.ops()[i];
    if (!sched::has_channel(o.kind)) continue;
    OpId& previous = last[2 * o.channel.value + (o.kind == sched::OpKind::kRecv ? 1 : 0)];
    if (previous.valid()) {
      const auto [pred, succ] = regions.lifted(previous, OpId(i));
      if (pred == previous.value && succ == i) {
        next_on_channel[previous.value] = OpId(i);
        ++waiting_for[i];
      } else {
        crossings.push_back({pred, succ, regions.is_region(pred)});
      }
    }
    previous = OpId(i);
  }
  const auto each_arc = [&](auto&& visit) {
    for (const sched::Edge& edge : schedule.edges()) {
      const auto [pred, succ] = regions.lifted(edge.pred, edge.succ);
      visit(pred, succ, regions.is_region(pred) || edge.on == sched::On::kDone);
    }
    for (const Crossing& c : crossings) visit(c.pred, c.succ, c.on_done);
  };
  each_arc([&](std::uint32_t pred, std::uint32_t succ, bool) {
    ++out_begin[pred + 1];
    ++waiting_for[succ];
  });
  std::partial_sum(out_begin.begin(), out_begin.end(), out_begin.begin());
  out.resize(out_begin.back());
  std::vector<std::uint32_t> fill(out_begin.begin(), out_begin.end() - 1);
  each_arc([&](std::uint32_t pred, std::uint32_t succ, bool on_done) {
    out[fill[pred]++] = {succ & 0x7fffffffu, on_done ? 1u : 0u};
  });
}

}  // namespace slackline::machine
