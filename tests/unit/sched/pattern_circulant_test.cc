// The circulant schedules keep the conditions that make the broadcast correct.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sched/pattern/circulant.h"
#include "sched/pattern/circulant_schedule.h"
#include "tests/support/sanitized.h"
#include "tests/unit/sched/pattern_checker.h"

namespace slackline::sched {
namespace {

void expect_conditions(std::uint32_t ranks) {
  const CirculantSchedule schedule(ranks);
  const std::uint32_t q = schedule.rounds();
  ASSERT_EQ(q, ceil_log2(ranks));
  // What a rank sends its target receives.
  const auto sent = [&](std::uint32_t rank, std::uint32_t k) {
    return schedule.receive((rank + schedule.skip(k)) % ranks, k);
  };
  for (std::uint32_t k = 0; k < q; ++k) ASSERT_EQ(sent(0, k), static_cast<int>(k));
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    const int phase = static_cast<int>(q);
    const int base = static_cast<int>(schedule.base_block(rank));
    ASSERT_LT(base, phase);
    // Everything of the phase before but the base block, and the base block of this one.
    std::set<int> expected{base};
    for (int block = -phase; block < 0; ++block) {
      if (block != base - phase) expected.insert(block);
    }
    std::set<int> received;
    for (std::uint32_t k = 0; k < q; ++k) {
      // What is sent was received before: in this phase, or it is the last phase's base block.
      const int sends = sent(rank, k);
      ASSERT_TRUE(sends == base - phase || received.contains(sends))
          << "p=" << ranks << " rank=" << rank << " round=" << k;
      received.insert(schedule.receive(rank, k));
    }
    ASSERT_EQ(received, expected) << "p=" << ranks << " rank=" << rank;
  }
}

TEST(CirculantSchedule, KeepsItsConditionsForEverySmallNumberOfRanks) {
  for (std::uint32_t ranks = 1; ranks <= 520; ++ranks) expect_conditions(ranks);
}

TEST(CirculantSchedule, KeepsItsConditionsForLargerNumbersOfRanks) {
  std::mt19937 random(7);
  for (int i = 0; i < testing::cases(15); ++i)
    expect_conditions(521 + static_cast<std::uint32_t>(random() % 9000));
  if (!testing::kSanitized) {
    expect_conditions(65'535);
    expect_conditions(65'536);
  }
  expect_conditions(65'537);
}

TEST(CirculantSchedule, HalvesItsSkips) {
  const CirculantSchedule schedule(17);
  std::vector<std::uint32_t> skips;
  for (std::uint32_t k = 0; k <= schedule.rounds(); ++k) skips.push_back(schedule.skip(k));
  EXPECT_EQ(skips, (std::vector<std::uint32_t>{1, 2, 3, 5, 9, 17}));
}

TEST(Circulant, EndsInTheSameNumberOfStepsForEveryGroupSize) {
  for (std::uint32_t n = 2; n <= testing::cases(1000u); ++n) {
    for (const std::uint32_t k : {1u, 3u, 24u}) {
      const Plan plan = circulant(options_of(n, k));
      ASSERT_EQ(broken_promise(plan), "") << "n=" << n << " k=" << k;
      ASSERT_EQ(plan.steps, k - 1 + ceil_log2(n)) << "n=" << n << " k=" << k;
    }
  }
}

}  // namespace
}  // namespace slackline::sched
