// A run's graph against one that is put together arc by arc: of all operations and of each rank's,
// with regions and without.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "machine/run/graph.h"
#include "tests/property/random_runs.h"
#include "tests/support/random_dynamic.h"

namespace slackline::machine {
namespace {

using sched::OpId;
using sched::OpRange;
using sched::RankId;
using sched::Schedule;
using testing::Dice;

struct PlainNode {
  std::uint32_t waits = 0;
  std::uint32_t next_on_channel = RunGraph::kNoNode;
  std::vector<std::pair<std::uint32_t, bool>> out;  // to which node, and whether when it is done
  friend bool operator==(const PlainNode&, const PlainNode&) = default;
};

std::vector<PlainNode> plain_nodes(const Schedule& schedule, OpRange range) {
  const sched::RegionTree tree(schedule, range);
  std::vector<PlainNode> nodes(tree.nodes());
  const auto join = [&](std::uint32_t pred, std::uint32_t succ, bool on_done) {
    nodes[pred].out.emplace_back(succ, on_done);
    ++nodes[succ].waits;
  };
  for (const sched::Edge& edge : schedule.edges()) {
    if (!range.holds(edge.succ)) continue;
    const auto [pred, succ] = tree.lifted(edge.pred, edge.succ);
    join(pred, succ, tree.is_region(pred) || edge.on == sched::On::kDone);
  }
  std::map<std::pair<std::uint32_t, bool>, OpId> last;  // by channel, of receives and of others
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const OpId id = range.id(i);
    const sched::Op& op = schedule.op(id);
    if (!sched::has_channel(op.kind)) continue;
    OpId& previous = last[{op.channel.value, op.kind == sched::OpKind::kRecv}];
    if (previous.valid()) {
      const auto [pred, succ] = tree.lifted(previous, id);
      if (pred == range.place(previous) && succ == i) {
        nodes[pred].next_on_channel = succ;
        ++nodes[succ].waits;
      } else {
        join(pred, succ, tree.is_region(pred));
      }
    }
    previous = id;
  }
  return nodes;
}

std::vector<PlainNode> nodes_of(const RunGraph& graph) {
  std::vector<PlainNode> nodes;
  for (std::size_t n = 0; n + 1 < graph.nodes().size(); ++n) {
    const RunGraph::Node& node = graph.nodes()[n];
    PlainNode& plain = nodes.emplace_back();
    plain.waits = node.waits;
    plain.next_on_channel = node.next_on_channel;
    for (std::uint32_t a = node.first_out; a < graph.nodes()[n + 1].first_out; ++a) {
      plain.out.emplace_back(graph.arcs()[a].to, graph.arcs()[a].on_done != 0);
    }
  }
  return nodes;
}

// Returns how many arcs there are.
std::size_t expect_as_put_together(const Schedule& schedule, OpRange range, std::uint32_t seed) {
  const RunGraph graph(schedule, range);
  EXPECT_TRUE(nodes_of(graph) == plain_nodes(schedule, range))
      << "seed " << seed << ", " << range.count << " operations from " << range.first.value;
  EXPECT_EQ(graph.nodes().back().first_out, graph.arcs().size());
  return graph.arcs().size();
}

TEST(RunGraph, HasTheArcsOfAGraphThatIsPutTogetherOneByOne) {
  std::size_t arcs = 0;
  std::size_t with_regions = 0;
  for (std::uint32_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const std::uint32_t ranks = 1 + dice.below(6);
    const Schedule schedule =
        seed % 2 == 0 ? testing::RandomSchedule(dice, ranks, 1 + dice.below(80)).build()
                      : testing::RandomDynamic(dice, ranks, dice.below(12), seed % 4 == 1).build();
    with_regions += schedule.regions().empty() ? 0 : 1;
    arcs += expect_as_put_together(schedule, OpRange::of_all(schedule), seed);
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
      expect_as_put_together(schedule, OpRange::of_rank(schedule, RankId(rank)), seed);
    }
  }
  EXPECT_GT(arcs, 2'000u);
  EXPECT_GT(with_regions, 100u);
}

}  // namespace
}  // namespace slackline::machine
