// The order queries that proofs are made of, against a transitive closure.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "sched/event_graph.h"
#include "sched/verify/order.h"
#include "tests/support/draft.h"

namespace slackline::testing {
namespace {

using Answer = OrderProver::Answer;

// Long, thinly tied programs with messages between them. With `backward`, some edges lead up the
// program.
Schedule thin_schedule(std::uint64_t seed, std::uint32_t ops, bool backward) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  Draft d;
  d.ranks = 1 + below(4);
  std::vector<ChannelId> channels;
  for (std::uint32_t i = 0; i < 2 * d.ranks; ++i) {
    channels.push_back(d.channel(below(d.ranks), below(d.ranks)));
  }
  std::vector<std::vector<OpId>> program(d.ranks);
  const auto placed = [&](OpId op) {
    std::vector<OpId>& before = program[d.ops[op.value].op.rank.value];
    for (int i = 0; i < 2 && !before.empty(); ++i) {
      const std::size_t reach =
          below(8) == 0 ? before.size() : std::min<std::size_t>(5, before.size());
      const OpId other = before[before.size() - 1 - below(reach)];
      const On on = below(4) == 0 ? On::kIssued : On::kDone;
      if (below(3) != 0) d.edge(other, op, on);
    }
    before.push_back(op);
  };
  while (d.ops.size() < ops) {
    const ChannelId on = channels[below(channels.size())];
    if (below(3) == 0) {
      placed(d.send(on));
      placed(d.recv(on));
    } else {
      placed(d.add(OpKind::kJoin, below(d.ranks)));
    }
  }
  if (backward) {
    // Joins are free to stand anywhere in their program.
    for (std::uint32_t i = 0; i < ops / 4; ++i) {
      const OpId first(below(d.ops.size()));
      const OpId second(below(d.ops.size()));
      if (d.ops[first.value].op.kind != OpKind::kJoin ||
          d.ops[second.value].op.kind != OpKind::kJoin ||
          d.ops[first.value].op.rank != d.ops[second.value].op.rank) {
        continue;
      }
      for (Edge& edge : d.edges) {
        for (OpId* id : {&edge.pred, &edge.succ}) {
          *id = *id == first ? second : *id == second ? first : *id;
        }
      }
    }
  }
  return d.build();
}

// reach[a][b]: a path leads from event a to event b.
std::vector<std::vector<bool>> closure(const Schedule& schedule, bool with_posted) {
  const ChannelOrder order = channel_order(schedule);
  const std::uint32_t events = 2 * schedule.op_count();
  std::vector<std::vector<std::uint32_t>> out(events);
  for (std::uint32_t e = 0; e < events; ++e) {
    for_each_arc_into(schedule, order, EventId{e}, with_posted,
                      [&](EventId pred) { out[pred.value].push_back(e); });
  }
  std::vector<std::vector<bool>> reach(events, std::vector<bool>(events, false));
  for (std::uint32_t start = 0; start < events; ++start) {
    std::vector<std::uint32_t> stack = {start};
    while (!stack.empty()) {
      const std::uint32_t event = stack.back();
      stack.pop_back();
      for (const std::uint32_t next : out[event]) {
        if (reach[start][next]) continue;
        reach[start][next] = true;
        stack.push_back(next);
      }
    }
  }
  return reach;
}

void check(const Schedule& schedule) {
  const auto with_posted = closure(schedule, true);
  bool cyclic = false;
  for (std::uint32_t e = 0; e < with_posted.size(); ++e) cyclic |= with_posted[e][e];
  const auto order = issue_order(schedule);
  ASSERT_EQ(order.has_value(), !cyclic);
  EXPECT_EQ(topological_order(schedule).has_value(), !cyclic);
  EXPECT_EQ(find_cycle(schedule).empty(), !cyclic);
  if (!order) return;
  const std::uint32_t ops = schedule.op_count();
  ASSERT_EQ(order->sequence.size(), ops);
  for (std::uint32_t i = 0; i < ops; ++i) {
    ASSERT_EQ(order->position[order->sequence[i].value], i);
  }
  const auto reach = closure(schedule, false);
  const ChannelOrder channels = channel_order(schedule);
  OrderProver prover(schedule, channels, *order, std::size_t{1} << 20);
  for (std::uint32_t x = 0; x < ops; ++x) {
    for (std::uint32_t y = 0; y < ops; ++y) {
      if (x == y) continue;
      ASSERT_TRUE(!with_posted[2 * x][2 * y] || order->position[x] < order->position[y]);
      ASSERT_EQ(prover.before(EventId::done(OpId(x)), OpId(y)) == Answer::kProven,
                reach[2 * x + 1][2 * y]);
      ASSERT_EQ(prover.before(EventId::issued(OpId(x)), OpId(y)) == Answer::kProven,
                reach[2 * x][2 * y]);
    }
  }
}

TEST(VerifyOrder, AgreesWithTheClosure) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    check(thin_schedule(seed, 10 + 4 * static_cast<std::uint32_t>(seed), false));
    check(thin_schedule(seed, 10 + 4 * static_cast<std::uint32_t>(seed), true));
    if (HasFatalFailure()) return;
  }
}

// A chain is found in one step, however long: with n operations that each write one byte, one
// after another, a plain search of each pair at distance n/2 would take n²/4 steps.
TEST(VerifyOrder, FollowsAChainAtOnce) {
  Draft d;
  constexpr std::uint32_t kOps = 200'000;
  for (std::uint32_t i = 0; i < kOps; ++i) {
    const OpId join = d.add(OpKind::kJoin, 0);
    if (i > 0) d.edge(OpId(i - 1), join);
  }
  const Schedule schedule = d.build();
  const auto order = issue_order(schedule);
  const ChannelOrder channels = channel_order(schedule);
  OrderProver prover(schedule, channels, *order, 100);
  for (std::uint32_t i = 0; i < kOps / 2; ++i) {
    ASSERT_EQ(prover.before(EventId::done(OpId(i)), OpId(i + kOps / 2)), Answer::kProven);
  }
}

TEST(VerifyOrder, SaysWhenItGaveUp) {
  Draft d;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const OpId join = d.add(OpKind::kJoin, 0);
    if (i > 0) d.edge(OpId(i - 1), join, On::kIssued);
  }
  const Schedule schedule = d.build();
  const auto order = issue_order(schedule);
  const ChannelOrder channels = channel_order(schedule);
  OrderProver few(schedule, channels, *order, 100);
  EXPECT_EQ(few.before(EventId::issued(OpId(0)), OpId(299)), Answer::kUndecided);
  EXPECT_EQ(few.before(EventId::issued(OpId(0)), OpId(99)), Answer::kProven);
  EXPECT_EQ(few.before(EventId::done(OpId(290)), OpId(299)), Answer::kRefuted);
  OrderProver many(schedule, channels, *order, 1000);
  EXPECT_EQ(many.before(EventId::issued(OpId(0)), OpId(299)), Answer::kProven);
}

}  // namespace
}  // namespace slackline::testing
