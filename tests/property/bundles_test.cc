// Bundles: the event engine against an interpretation of its own, and against schedules with
// regions written out.
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "machine/static_forms.h"
#include "tests/support/bundle_interpreter.h"
#include "tests/support/random_bundles.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using sched::Trace;
using testing::BundleInterpreter;
using testing::Dice;

TEST(Bundles, RunAsTheyAreInterpreted) {
  std::uint64_t carried = 0;
  std::uint64_t messages = 0;
  std::uint32_t stuck = 0;
  for (std::uint32_t seed = 0; seed < 1'500 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const sched::Schedule schedule = testing::random_bundles(dice, seed % 3 == 0);
    machine::Platform platform = testing::random_platform(dice, NicDiscipline::kFair);
    platform.gap = sched::Time{0};
    // Within an instant the order of what takes no time is the engines' own.
    platform.o_post += sched::Time{171'000};
    platform.latency += sched::Time{133'000};
    platform.o_complete += sched::Time{57'000};
    platform.interleave_bytes = 10'000'000;
    BundleInterpreter interpreter(schedule, platform);
    const auto seen = interpreter.run();
    carried += interpreter.carried;
    messages += interpreter.messages;
    const std::string what = "seed " + std::to_string(seed);
    const bool finishes = std::ranges::all_of(seen, [](const auto& op) { return op.done; });
    Trace trace;
    try {
      trace = analysis::run_events({schedule, platform});
    } catch (const InputError& error) {
      ASSERT_FALSE(finishes) << what << ": " << error.what();
      ++stuck;
      continue;
    }
    ASSERT_TRUE(finishes) << what;
    const double near_s = 1e-9 * trace.makespan_s();
    for (std::size_t i = 0; i < seen.size(); ++i) {
      ASSERT_NEAR(trace.ops[i].issued_s, seen[i].issued_s, near_s) << what << ", op " << i;
      ASSERT_NEAR(trace.ops[i].done_s, seen[i].done_s, near_s) << what << ", op " << i;
    }
  }
  EXPECT_GT(carried, messages + messages / 10);
  EXPECT_GT(stuck, 5u);
}

// The written-out form has the same bundles, and takes the same time.
TEST(Bundles, RegionsWrittenOutRunTheSame) {
  std::uint32_t repeated = 0;
  for (std::uint32_t seed = 0; seed < 1'500 && !HasFailure(); ++seed) {
    Dice dice(seed);
    testing::RandomDynamic random(dice, 1 + dice.below(4), 1 + dice.below(8), false);
    random.gather();
    const sched::Schedule schedule = random.build();
    const machine::Platform platform = testing::random_platform(
        dice, dice.one_in(3) ? NicDiscipline::kFair : NicDiscipline::kSerial);
    machine::DelayPlan plan;
    plan.seed = seed;
    const std::string what = "seed " + std::to_string(seed);
    const Trace dynamic = analysis::run_events({schedule, platform, plan});
    const sched::Unrolled form = machine::unroll(schedule, seed);
    ASSERT_TRUE(form.schedule.regions().empty());
    const Trace fixed = analysis::run_events({form.schedule, platform, plan});
    const double near_s = 1e-9 * dynamic.makespan_s();
    EXPECT_LE(dynamic.makespan_s(), fixed.makespan_s() + near_s) << what;
    for (std::size_t i = 0; i < form.origin.size(); ++i) {
      if (!form.origin[i].valid()) continue;
      const sched::OpTimes& last = dynamic.ops[form.origin[i].value];
      repeated += last.attempts > 1 ? 1 : 0;
      if (last.attempts != 1) continue;
      ASSERT_NEAR(fixed.ops[i].issued_s, last.issued_s, near_s) << what << ", op " << i;
      ASSERT_NEAR(fixed.ops[i].done_s, last.done_s, near_s) << what << ", op " << i;
    }
  }
  EXPECT_GT(repeated, 500u);
}

}  // namespace
}  // namespace slackline
