// Patterns that are told transfer by transfer.
#include "sched/pattern/transfer_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sched/compile.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

constexpr MulticastOptions kTwoBlocks{3, 2048, 1024, RankId(0)};

TEST(TransferList, OfEveryPatternIsItsPlan) {
  for (const PatternEntry& pattern : plan_patterns()) {
    for (const std::uint32_t root : {0u, 3u}) {
      MulticastOptions options{6, 7 * 1024 - 5, 1024, RankId(root)};
      const Plan plan = pattern.plan(options);
      std::vector<Transfer> told = plan.transfers;
      std::shuffle(told.begin(), told.end(), std::mt19937_64(root));
      const Plan again = plan_of_transfers(options, told);
      EXPECT_EQ(again.transfers, plan.transfers) << pattern.name;
      EXPECT_EQ(again.root, plan.root) << pattern.name;
      EXPECT_EQ(again.blocks, plan.blocks) << pattern.name;
      EXPECT_LE(again.steps, plan.steps) << pattern.name;
      if (!plan.relay_whole_message) {
        EXPECT_EQ(compile_plan(again, Spec()).op_count(), compile_plan(plan, Spec()).op_count())
            << pattern.name;
      }
    }
  }
}

TEST(TransferList, WhatCannotBeIsNamed) {
  const auto why = [](std::vector<Transfer> transfers) {
    return testing::error_of([&] { plan_of_transfers(kTwoBlocks, transfers); });
  };
  for (const Transfer wrong :
       {Transfer{0, RankId(3), RankId(1), 0}, Transfer{0, RankId(0), RankId(3), 0},
        Transfer{0, RankId(0), RankId(0), 0}, Transfer{0, RankId(0), RankId(1), 2}}) {
    EXPECT_NE(why({wrong}).find("expected (step, src, dst, block) of two of 3 ranks and one of 2"),
              std::string::npos);
  }
  // At the step at which it comes, a block is not there yet.
  EXPECT_EQ(why({{0, RankId(0), RankId(1), 1}, {0, RankId(1), RankId(2), 1}}),
            "transfer (0, 1, 2, 1): rank 1 has no block 1 before that step; expected it to come "
            "earlier");
}

TEST(TransferList, TellsWhatComesTwice) {
  EXPECT_FALSE(plan_of_transfers(kTwoBlocks, {{0, RankId(0), RankId(1), 0}}).delivers_twice);
  EXPECT_TRUE(
      plan_of_transfers(kTwoBlocks, {{0, RankId(0), RankId(1), 0}, {1, RankId(0), RankId(1), 0}})
          .delivers_twice);
}

}  // namespace
}  // namespace slackline::sched
