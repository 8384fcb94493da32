// A run's graph against one that is put together arc by arc: of all operations and of each rank's,
// with regions and without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "machine/run/graph.h"
#include "sched/builder.h"
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
  bool is_awaited = false;
  std::vector<std::uint32_t> at_issue;  // the nodes to which arcs lead
  std::vector<std::uint32_t> at_done;
  friend bool operator==(const PlainNode&, const PlainNode&) = default;
};

std::vector<PlainNode> plain_nodes(const Schedule& schedule, OpRange range) {
  const sched::RegionTree tree(schedule, range);
  std::vector<PlainNode> nodes(tree.nodes());
  const auto join = [&](std::uint32_t pred, std::uint32_t succ, bool on_done) {
    (on_done ? nodes[pred].at_done : nodes[pred].at_issue).push_back(succ);
    nodes[pred].is_awaited = true;
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
        nodes[pred].at_issue.insert(nodes[pred].at_issue.begin(), succ);
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
  for (std::uint32_t n = 0; n < graph.nodes().size(); ++n) {
    const RunGraph::Node& node = graph.nodes()[n];
    PlainNode& plain = nodes.emplace_back();
    plain.waits = node.waits;
    plain.is_awaited = node.is_awaited;
    graph.each_at_issue(n, node, [&](std::uint32_t to) { plain.at_issue.push_back(to); });
    graph.each_at_done(n, node, [&](std::uint32_t to) { plain.at_done.push_back(to); });
  }
  return nodes;
}

bool is_listed(const RunGraph::Node& node) { return node.at_issue == RunGraph::Node::kListed; }

struct Found {
  std::size_t arcs = 0;
  std::size_t listed = 0;  // nodes whose arcs do not stand with them
};
Found expect_as_put_together(const Schedule& schedule, OpRange range, std::uint32_t seed) {
  const RunGraph graph(schedule, range);
  EXPECT_TRUE(nodes_of(graph) == plain_nodes(schedule, range))
      << "seed " << seed << ", " << range.count << " operations from " << range.first.value;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const OpId id = range.id(i);
    const sched::Op& op = schedule.op(id);
    if (!sched::is_initiator(op.kind)) continue;
    const RunGraph::Node& node = graph.nodes()[i];
    EXPECT_EQ(graph.payload_bytes(node, id), schedule.payload_bytes(op)) << "seed " << seed;
    EXPECT_EQ(node.has_operands, op.arguments != sched::kNoArguments || sched::is_atomic(op.kind));
  }
  Found found;
  for (const RunGraph::Node& node : graph.nodes()) {
    found.arcs += node.waits;
    found.listed += is_listed(node) ? 1 : 0;
  }
  return found;
}

TEST(RunGraph, HasTheArcsOfAGraphThatIsPutTogetherOneByOne) {
  std::size_t arcs = 0;
  std::size_t listed = 0;
  std::size_t with_regions = 0;
  for (std::uint32_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const std::uint32_t ranks = 1 + dice.below(6);
    const Schedule schedule =
        seed % 2 == 0 ? testing::RandomSchedule(dice, ranks, 1 + dice.below(80)).build()
                      : testing::RandomDynamic(dice, ranks, dice.below(12), seed % 4 == 1).build();
    with_regions += schedule.regions().empty() ? 0 : 1;
    const Found found = expect_as_put_together(schedule, OpRange::of_all(schedule), seed);
    arcs += found.arcs;
    listed += found.listed;
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
      expect_as_put_together(schedule, OpRange::of_rank(schedule, RankId(rank)), seed);
    }
  }
  EXPECT_GT(arcs, 2'000u);
  EXPECT_GT(listed, 50u);
  EXPECT_GT(with_regions, 100u);
}

// One rank, of joins: arcs of up to twice the length that stands with a node, and from 0 to 40 of
// them out of one.
TEST(RunGraph, HasArcsThatAreFarAndMany) {
  constexpr std::uint32_t kOps = 70'000;
  Dice dice(1);
  sched::ScheduleBuilder builder(1);
  for (std::uint32_t i = 0; i < kOps; ++i) {
    sched::Op join;
    join.rank = RankId(0);
    builder.add(join);
  }
  std::size_t far = 0;
  for (std::uint32_t i = 0; i < 2'000; ++i) {
    const std::uint32_t pred = dice.below(kOps - 1);
    const std::uint32_t most = dice.below(4) == 0 ? kOps - 1 - pred : 100;
    const std::uint32_t arcs = dice.below(41);
    for (std::uint32_t k = 0; k < arcs; ++k) {
      const std::uint32_t by = 1 + dice.below(std::min(most, kOps - 1 - pred));
      far += by > 0x7fff ? 1 : 0;
      builder.add_edge(OpId(pred), OpId(pred + by),
                       dice.below(2) == 0 ? sched::On::kIssued : sched::On::kDone);
    }
  }
  const Schedule schedule = builder.build();
  const Found found = expect_as_put_together(schedule, OpRange::of_all(schedule), 1);
  EXPECT_GT(far, 1'000u);
  EXPECT_GT(found.listed, 1'000u);
  EXPECT_GT(found.arcs, 20'000u);
}

// More sizes than the graph tells apart.
TEST(RunGraph, HasTheBytesOfMessagesOfManySizes) {
  Dice dice(2);
  sched::ScheduleBuilder builder(2);
  const sched::BufferId from = builder.add_buffer(RankId(0), 1'000);
  const sched::BufferId to = builder.add_buffer(RankId(1), 1'000);
  sched::Channel from_0_to_1;
  from_0_to_1.src = RankId(0);
  from_0_to_1.dst = RankId(1);
  const sched::ChannelId channel = builder.add_channel(from_0_to_1);
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t i = 0; i < 200; ++i) {
    sizes.push_back(1 + dice.below(40));
    sched::Op send;
    send.kind = sched::OpKind::kSend;
    send.rank = RankId(0);
    send.channel = channel;
    send.reads = builder.add_slice({from, 0, sizes.back()});
    builder.add(send);
  }
  for (const std::uint64_t bytes : sizes) {
    sched::Op receive;
    receive.kind = sched::OpKind::kRecv;
    receive.rank = RankId(1);
    receive.channel = channel;
    receive.writes = builder.add_slice({to, 0, bytes});
    builder.add(receive);
  }
  const Schedule schedule = builder.build();
  expect_as_put_together(schedule, OpRange::of_all(schedule), 2);
  const RunGraph graph(schedule, OpRange::of_all(schedule));
  std::size_t any_size = 0;
  for (const RunGraph::Node& node : graph.nodes()) {
    any_size += node.size == RunGraph::Node::kAnySize ? 1 : 0;
  }
  EXPECT_GT(any_size, 200u + 50);  // all receives, and some sends
  EXPECT_LT(any_size, 400u - 50);
}

}  // namespace
}  // namespace slackline::machine
