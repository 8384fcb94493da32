// Dynamic schedules against their static forms: a run takes the times of the schedule written out,
// and the same everything twice.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "machine/static_forms.h"
#include "tests/support/dynamic_interpreter.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::NicDiscipline;
using machine::Platform;
using sched::OpId;
using sched::Schedule;
using sched::Trace;
using sched::Unrolled;
using testing::Dice;
using testing::RandomDynamic;

struct Case {
  Schedule schedule;
  Platform platform;
  DelayPlan plan;
};

Case random_case(std::uint32_t seed, bool locks) {
  Dice dice(seed);
  const std::uint32_t ranks = 1 + dice.below(4);
  const std::uint32_t blocks = 1 + dice.below(8);
  Schedule schedule = RandomDynamic(dice, ranks, blocks, locks).build();
  const Platform platform = testing::random_platform(
      dice, dice.one_in(3) ? NicDiscipline::kFair : NicDiscipline::kSerial);
  DelayPlan plan;
  plan.seed = seed;
  return {std::move(schedule), platform, plan};
}

// The last time that an operation runs in the static form is what the trace tells of it.
void expect_same(const Trace& dynamic, const Unrolled& unrolled, const Platform& platform,
                 const std::string& what) {
  ASSERT_TRUE(unrolled.schedule.is_static()) << what;
  const Trace fixed = analysis::run_events({unrolled.schedule, platform});
  std::vector<OpId> last(dynamic.ops.size());
  std::vector<std::uint32_t> times(dynamic.ops.size(), 0);
  for (std::uint32_t i = 0; i < unrolled.origin.size(); ++i) {
    const OpId origin = unrolled.origin[i];
    if (!origin.valid()) continue;
    last[origin.value] = OpId(i);
    ++times[origin.value];
  }
  const double near_s = 1e-9 * dynamic.makespan_s();
  // The static form has what no operation's time tells: a wait after which nothing runs.
  EXPECT_LE(dynamic.makespan_s(), fixed.makespan_s() + near_s) << what;
  for (std::size_t i = 0; i < times.size(); ++i) {
    ASSERT_EQ(dynamic.ops[i].attempts, times[i]) << what << ", op " << i;
    if (times[i] == 0) continue;
    const sched::OpTimes& t = fixed.ops[last[i].value];
    ASSERT_NEAR(dynamic.ops[i].ready_s, t.ready_s, near_s) << what << ", op " << i;
    ASSERT_NEAR(dynamic.ops[i].issued_s, t.issued_s, near_s) << what << ", op " << i;
    ASSERT_NEAR(dynamic.ops[i].wire_s, t.wire_s, near_s) << what << ", op " << i;
    ASSERT_NEAR(dynamic.ops[i].done_s, t.done_s, near_s) << what << ", op " << i;
    if (!fixed.results.empty()) {  // else every atomic was passed over
      ASSERT_EQ(dynamic.results[i], fixed.results[last[i].value]) << what << ", op " << i;
    }
  }
}

TEST(Dynamic, SampledOutcomesRunAsTheyAreUnrolled) {
  std::uint32_t repeated = 0;
  std::uint32_t passed_over = 0;
  for (std::uint32_t seed = 0; seed < 3'000 && !HasFatalFailure(); ++seed) {
    const Case c = random_case(seed, false);
    const Trace trace = analysis::run_events({c.schedule, c.platform, c.plan});
    for (const sched::OpTimes& t : trace.ops) {
      repeated += t.attempts > 1 ? 1 : 0;
      passed_over += t.attempts == 0 ? 1 : 0;
    }
    expect_same(trace, machine::unroll(c.schedule, seed), c.platform,
                "seed " + std::to_string(seed));
  }
  EXPECT_GT(repeated, 1'000u);
  EXPECT_GT(passed_over, 300u);
}

TEST(Dynamic, ActualOutcomesRunAsTheyAreRealised) {
  std::uint32_t contended = 0;
  for (std::uint32_t seed = 0; seed < 3'000 && !HasFatalFailure(); ++seed) {
    const Case c = random_case(seed, true);
    const Trace trace = analysis::run_events({c.schedule, c.platform, c.plan});
    for (std::uint32_t i = 0; i < trace.ops.size(); ++i) {
      const bool swap = c.schedule.ops()[i].kind == sched::OpKind::kCompareSwap;
      contended += swap && trace.ops[i].attempts > 1 ? 1 : 0;
    }
    expect_same(trace, machine::realise(c.schedule, trace), c.platform,
                "seed " + std::to_string(seed));
  }
  EXPECT_GT(contended, 100u);
}

// Where no port keeps anybody waiting.
TEST(Dynamic, RunsAsTheSemanticsSay) {
  std::uint32_t repeated = 0;
  for (std::uint32_t seed = 0; seed < 1'500 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const std::uint32_t ranks = 1 + dice.below(3);
    const std::uint32_t blocks = 1 + dice.below(5);
    const Schedule schedule = RandomDynamic(dice, ranks, blocks, dice.one_in(2)).build();
    Platform platform = testing::random_platform(dice, NicDiscipline::kFair);
    platform.gap = sched::Time{0};
    platform.interleave_bytes = 1 << 20;
    if (platform.latency.count() == 0)
      platform.latency = testing::us(0.3);  // nothing takes no time
    DelayPlan plan;
    plan.seed = seed;
    const Trace trace = analysis::run_events({schedule, platform, plan});
    const auto seen = testing::DynamicInterpreter(schedule, platform, seed).run();
    const double near_s = 1e-9 * trace.makespan_s();
    for (std::uint32_t i = 0; i < seen.size(); ++i) {
      const std::string what = "seed " + std::to_string(seed) + ", op " + std::to_string(i);
      ASSERT_EQ(trace.ops[i].attempts, seen[i].times) << what;
      if (seen[i].times == 0) continue;
      repeated += seen[i].times > 1 ? 1 : 0;
      ASSERT_NEAR(trace.ops[i].issued_s, seen[i].issued_s, near_s) << what;
      ASSERT_NEAR(trace.ops[i].done_s, seen[i].done_s, near_s) << what;
      if (sched::is_atomic(schedule.ops()[i].kind)) {
        ASSERT_EQ(trace.results[i], seen[i].result) << what;
      }
    }
  }
  EXPECT_GT(repeated, 500u);
}

TEST(Dynamic, TheSameSeedGivesTheSameTrace) {
  std::uint32_t differ = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Case c = random_case(seed, true);
    const auto run = [&] { return analysis::run_events({c.schedule, c.platform, c.plan}); };
    const Trace first = run();
    EXPECT_EQ(digest_of(first), digest_of(run())) << seed;
    c.plan.seed += 1'000;
    differ += first.makespan_s() != run().makespan_s() ? 1 : 0;
  }
  EXPECT_GT(differ, 100u);
}

TEST(Dynamic, RealiseTakesTheTraceOfItsScheduleOnly) {
  const Case c = random_case(1, false);
  EXPECT_THROW(machine::realise(c.schedule, Trace{}), InputError);
}

TEST(Dynamic, TheBestCaseRunsNothingTwiceThatNeedNot) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Case c = random_case(seed, true);
    const Unrolled best = machine::best_case(c.schedule);
    const Unrolled real =
        machine::realise(c.schedule, analysis::run_events({c.schedule, c.platform, c.plan}));
    EXPECT_LE(best.schedule.op_count(), real.schedule.op_count()) << seed;
  }
}

}  // namespace
}  // namespace slackline
