// Patterns held to what is published of them, and the shapes of the trees.
#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <utility>

#include "sched/pattern/binary_tree.h"
#include "sched/pattern/binomial_tree.h"
#include "sched/pattern/chain.h"
#include "sched/pattern/double_tree.h"
#include "sched/pattern/scatter_allgather.h"
#include "sched/pattern/sequential.h"
#include "tests/unit/sched/pattern_checker.h"

namespace slackline::sched {
namespace {

using Sent = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

std::vector<Sent> sent(const Plan& plan) {
  std::vector<Sent> all;
  for (const Transfer& t : plan.transfers) {
    all.emplace_back(t.step, t.src.value, t.dst.value, t.block);
  }
  return all;
}

TEST(Sequential, SendsTheMessageToOneRankAfterTheOther) {
  EXPECT_EQ(sent(sequential(options_of(3, 2))),
            (std::vector<Sent>{{0, 0, 1, 0}, {1, 0, 1, 1}, {2, 0, 2, 0}, {3, 0, 2, 1}}));
}

TEST(Chain, RelaysEveryBlock) {
  EXPECT_EQ(sent(chain(options_of(3, 2))),
            (std::vector<Sent>{{0, 0, 1, 0}, {1, 0, 1, 1}, {1, 1, 2, 0}, {2, 1, 2, 1}}));
}

TEST(BinomialTree, IsThePublishedTreeOfEight) {
  const Plan plan = binomial_tree(options_of(8, 1));
  EXPECT_EQ(sent(plan), (std::vector<Sent>{{0, 0, 1, 0},
                                           {1, 0, 2, 0},
                                           {1, 1, 3, 0},
                                           {2, 0, 4, 0},
                                           {2, 1, 5, 0},
                                           {2, 2, 6, 0},
                                           {2, 3, 7, 0}}));
  EXPECT_TRUE(plan.relay_whole_message);
}

TEST(BinaryTree, AlternatesBetweenTwoChildren) {
  EXPECT_EQ(
      sent(binary_tree(options_of(4, 2))),
      (std::vector<Sent>{
          {0, 0, 1, 0}, {1, 0, 2, 0}, {1, 1, 3, 0}, {2, 0, 1, 1}, {3, 0, 2, 1}, {3, 1, 3, 1}}));
}

TEST(ScatterAllgather, PassesOnWhatTheNextRankLacks) {
  // Rank 2 keeps piece 3 from the scatter; nobody sends it to rank 2 again.
  EXPECT_EQ(sent(scatter_allgather(options_of(4, 4))), (std::vector<Sent>{{0, 0, 2, 2},
                                                                          {1, 0, 2, 3},
                                                                          {2, 0, 1, 1},
                                                                          {2, 2, 3, 3},
                                                                          {3, 0, 1, 0},
                                                                          {3, 1, 2, 1},
                                                                          {3, 2, 3, 2},
                                                                          {4, 0, 1, 3},
                                                                          {4, 1, 2, 0},
                                                                          {4, 2, 3, 1},
                                                                          {5, 0, 1, 2},
                                                                          {5, 2, 3, 0}}));
}

// Whose children a rank has, by tree: even blocks go down one, odd blocks down the other.
TEST(DoubleTree, IsTwoBinaryTreesWithDifferentInnerRanks) {
  for (std::uint32_t n = 2; n <= 300; ++n) {
    const Plan plan = double_tree(options_of(n, 4));
    std::set<std::pair<std::uint32_t, std::uint32_t>> edges[2];
    for (const Transfer& t : plan.transfers) {
      edges[t.block % 2].insert({t.src.value, t.dst.value});
    }
    std::vector<std::uint32_t> children[2] = {std::vector<std::uint32_t>(n, 0),
                                              std::vector<std::uint32_t>(n, 0)};
    for (std::uint32_t tree = 0; tree < 2; ++tree) {
      EXPECT_EQ(edges[tree].size(), n - 1);  // with every rank reached: a tree
      for (const auto& [src, dst] : edges[tree]) ++children[tree][src];
      EXPECT_EQ(children[tree][0], 1u);
    }
    for (std::uint32_t rank = 1; rank < n; ++rank) {
      EXPECT_LE(children[0][rank] + children[1][rank], 2u);
      EXPECT_TRUE(children[0][rank] == 0 || children[1][rank] == 0) << n << ' ' << rank;
    }
  }
}

// For long messages the double tree takes a step a block, the single tree two.
TEST(DoubleTree, UsesTheWholeBandwidth) {
  for (std::uint32_t n = 3; n <= 300; ++n) {
    EXPECT_LE(double_tree(options_of(n, 500)).steps, 500 + 2 * floor_log2(n - 1));
    EXPECT_GE(binary_tree(options_of(n, 500)).steps, 1000u);
  }
}

}  // namespace
}  // namespace slackline::sched
