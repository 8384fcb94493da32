// Bundles on both simulators: the same times.
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/support/random_bundles.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using sched::Trace;
using testing::Dice;

TEST(Simgrid, AgreesWithEventsOnBundles) {
  std::uint32_t ran = 0;
  for (std::uint32_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const sched::Schedule schedule = testing::random_bundles(dice, seed % 3 == 0);
    const machine::Platform platform = testing::random_platform(dice, NicDiscipline::kSerial);
    const machine::DelayPlan plan = testing::random_delays(dice, schedule);
    const std::string what = "seed " + std::to_string(seed);
    Trace events;
    try {
      events = analysis::run_events({schedule, platform, plan});
    } catch (const InputError& stuck) {
      try {
        sim::run_simgrid({schedule, platform, plan});
        ADD_FAILURE() << what << ": expected " << stuck.what();
      } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), stuck.what()) << what;
      }
      continue;
    }
    ++ran;
    testing::expect_equal(sim::run_simgrid({schedule, platform, plan}), events, what);
  }
  EXPECT_GT(ran, 200u);
}

// What completions of bundles cost, all three engines agree on.
TEST(Simgrid, AgreesWithEventsOnBundlesWhoseCompletionsCost) {
  std::uint32_t ran = 0;
  for (std::uint32_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    Dice dice(7'000 + seed);
    const bool regions = seed % 4 == 3;
    sched::Schedule schedule = testing::random_bundles(dice, seed % 3 == 0);
    if (regions) {
      testing::RandomDynamic random(dice, 1 + dice.below(4), 1 + dice.below(8), seed % 2 == 0);
      random.gather();
      schedule = random.build();
    }
    machine::Platform platform = testing::random_platform(dice, NicDiscipline::kSerial);
    platform.o_poll = sched::Time{dice.pick({0, 90'000, 800'000})};
    platform.o_match = sched::Time{dice.pick({0, 70'000})};
    platform.o_signal = sched::Time{dice.pick({0, 60'000})};
    platform.poll_batch = dice.pick({1u, 2u, 16u});
    if (!regions && dice.one_in(3)) platform.o_block = sched::Time{130'000};
    if (!regions && dice.one_in(3)) platform.o_callback = sched::Time{1'700'000};
    if (dice.one_in(3)) {
      platform.poll_for = sched::Time{dice.pick({0, 1'000'000})};
      platform.interrupt_cost = sched::Time{2'300'000};
    }
    machine::DelayPlan plan = testing::random_delays(dice, schedule);
    plan.seed = seed;
    const std::string what = "seed " + std::to_string(seed) + " on " + platform.spec();
    Trace events;
    try {
      events = analysis::run_events({schedule, platform, plan});
    } catch (const InputError&) {
      EXPECT_THROW(sim::run_simgrid({schedule, platform, plan}), InputError) << what;
      continue;
    }
    ++ran;
    testing::expect_all_equal({schedule, platform, plan}, events, what);
  }
  EXPECT_GT(ran, 150u);
}

TEST(Simgrid, AgreesWithEventsOnBundlesInRegions) {
  for (std::uint32_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    Dice dice(seed);
    testing::RandomDynamic random(dice, 1 + dice.below(4), 1 + dice.below(8), seed % 2 == 0);
    random.gather();
    const sched::Schedule schedule = random.build();
    const machine::Platform platform = testing::random_platform(dice, NicDiscipline::kSerial);
    machine::DelayPlan plan = testing::random_delays(dice, schedule);
    plan.seed = seed;
    const std::string what = "seed " + std::to_string(seed);
    testing::expect_equal(sim::run_simgrid({schedule, platform, plan}),
                          analysis::run_events({schedule, platform, plan}), what);
  }
}

}  // namespace
}  // namespace slackline
