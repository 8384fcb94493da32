// The order in which the verifier takes operations, and proofs along chains that are longer than a
// first search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sched/event_graph.h"
#include "sched/verify/order.h"
#include "tests/unit/sched/verify_pair.h"

namespace slackline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Messages written down as they may happen, so that every program can be issued as it stands.
Draft as_it_happens(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  Draft d;
  d.ranks = 2 + below(3);
  std::vector<ChannelId> channels;
  for (int i = 0; i < 5; ++i) {
    const std::uint32_t src = below(d.ranks);
    channels.push_back(d.channel(src, (src + 1 + below(d.ranks - 1)) % d.ranks));
  }
  std::vector<std::vector<OpId>> program(d.ranks);
  const auto placed = [&](OpId op) {
    std::vector<OpId>& before = program[d.ops[op.value].op.rank.value];
    for (int i = 0; i < 2 && !before.empty(); ++i) {
      d.edge(before[below(before.size())], op, below(4) == 0 ? On::kIssued : On::kDone);
    }
    before.push_back(op);
  };
  for (int i = 0; i < 20; ++i) {
    const ChannelId on = channels[below(channels.size())];
    const bool posted = below(2) == 0;
    const OpId first = posted ? d.recv(on) : d.send(on);
    const OpId second = posted ? d.send(on) : d.recv(on);
    placed(first);
    placed(second);
  }
  return d;
}

TEST(OperationOrder, TakesEachProgramAsItStandsWhereThatIsPossible) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Schedule schedule = as_it_happens(seed).build();
    const auto order = issue_order(schedule);
    ASSERT_TRUE(order.has_value());
    ASSERT_EQ(order->sequence.size(), schedule.op_count());
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      EXPECT_EQ(order->position[order->sequence[i].value], i);
      if (i > 0 && schedule.op(OpId(i)).rank == schedule.op(OpId(i - 1)).rank) {
        EXPECT_LT(order->position[i - 1], order->position[i]) << "seed " << seed;
      }
      for (const Edge& edge : schedule.edges_into(OpId(i))) {
        EXPECT_LT(order->position[edge.pred.value], order->position[i]);
        const Op& pred = schedule.op(edge.pred);
        if (edge.on == On::kDone && pred.match.valid()) {
          EXPECT_LT(order->position[pred.match.value], order->position[i]) << "seed " << seed;
        }
      }
    }
  }
}

// A send, a chain of `joins` behind it, and a copy over its source behind all; beside each join of
// the chain, others that lead nowhere.
Pair behind_a_chain(int joins, On first) {
  Pair d;
  const OpId send = d.send(d.there, {d.at_from(0)});
  OpId last = send;
  for (int i = 0; i < joins; ++i) {
    const OpId beside = d.add(OpKind::kJoin, 0);
    const OpId join = d.add(OpKind::kJoin, 0);
    d.edge(last, join, i == 0 ? first : On::kDone);
    d.edge(beside, join);
    last = join;
  }
  d.edge(last, d.copy(0, d.at_from(8), d.at_from(0)));
  d.recv(d.there, {d.at_to()});
  return d;
}

TEST(OrderProver, FollowsAChainHoweverLong) {
  for (const int joins : {1, 20, 31, 32, 33, 63, 64, 65, 200, 1000}) {
    EXPECT_THAT(check(behind_a_chain(joins, On::kDone)), IsEmpty()) << joins;
    EXPECT_THAT(check(behind_a_chain(joins, On::kDone), {.search_steps = 100}), IsEmpty()) << joins;
    EXPECT_THAT(check(behind_a_chain(joins, On::kIssued)),
                ElementsAre(HasSubstr("no path leads from the done of the latter")))
        << joins;
  }
  // Up to 64 steps are searched one by one; beyond, by chains.
  EXPECT_THAT(check(behind_a_chain(200, On::kDone), {.search_steps = 64}),
              ElementsAre(HasSubstr("not proven within 64 steps")));
  EXPECT_THAT(check(behind_a_chain(200, On::kDone), {.search_steps = 65}), IsEmpty());
}

// Each channel's window is its own: what one may send says nothing of another.
TEST(Windows, EveryChannelHasItsOwn) {
  for (std::uint32_t wide = 0; wide < 3; ++wide) {
    Draft d;
    d.ranks = 2;
    std::vector<ChannelId> there;
    std::vector<ChannelId> back;
    for (std::uint32_t c = 0; c < 3; ++c) {
      there.push_back(d.channel(0, 1, c == wide ? 2 : 1));
      back.push_back(d.channel(1, 0));
    }
    // Two messages on each; the credits say that all receives are posted, not that one is done.
    std::vector<OpId> credits;
    for (std::uint32_t c = 0; c < 3; ++c) credits.push_back(d.recv(back[c]));
    for (int k = 0; k < 2; ++k) {
      for (std::uint32_t c = 0; c < 3; ++c) d.edge(credits[c], d.send(there[c]));
    }
    std::vector<OpId> receives;
    for (int k = 0; k < 2; ++k) {
      for (std::uint32_t c = 0; c < 3; ++c) receives.push_back(d.recv(there[c]));
    }
    for (std::uint32_t c = 0; c < 3; ++c) {
      const OpId grant = d.send(back[c]);
      d.edge(receives[c], grant, On::kIssued);
      d.edge(receives[3 + c], grant, On::kIssued);
    }
    std::vector<std::string> expected;
    for (std::uint32_t c = 0; c < 3; ++c) {
      if (c == wide) continue;
      expected.push_back("window: op " + std::to_string(6 + c) +
                         " (send, rank 0) may send message 1 of channel " +
                         std::to_string(there[c].value) + " before op " + std::to_string(9 + c) +
                         " (recv, rank 1) is done, beyond the channel's window of 1: no path of "
                         "arcs orders them");
    }
    EXPECT_EQ(check(d), expected);
  }
}

}  // namespace
}  // namespace slackline::testing
