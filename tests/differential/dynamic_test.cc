// Dynamic schedules on both simulators: the same times, attempts and results.
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/event_engine.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/support/error_of.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using sched::Trace;
using testing::Dice;

TEST(Simgrid, AgreesWithEventsOnDynamicSchedules) {
  std::uint32_t repeated = 0;
  std::uint32_t kept = 0;
  for (std::uint32_t seed = 0; seed < 400 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const std::uint32_t ranks = 1 + dice.below(4);
    const std::uint32_t blocks = 1 + dice.below(8);
    const sched::Schedule schedule =
        testing::RandomDynamic(dice, ranks, blocks, seed % 2 == 0).build();
    const machine::Platform platform = testing::random_platform(dice, NicDiscipline::kSerial);
    machine::DelayPlan plan = testing::random_delays(dice, schedule);
    plan.seed = seed;
    const Trace events = analysis::run_events({schedule, platform, plan});
    const Trace simgrid = sim::run_simgrid({schedule, platform, plan});
    const std::string what = "seed " + std::to_string(seed);
    testing::expect_equal(simgrid, events, what);
    ASSERT_EQ(simgrid.results, events.results) << what;
    ASSERT_EQ(simgrid.memory, events.memory) << what;
    kept += events.memory.empty() ? 0 : 1;
    for (std::size_t i = 0; i < events.ops.size(); ++i) {
      ASSERT_EQ(simgrid.ops[i].attempts, events.ops[i].attempts) << what << ", op " << i;
      repeated += events.ops[i].attempts > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(repeated, 100u);
  EXPECT_GT(kept, 100u);
}

TEST(Simgrid, ReportsRetriesThatCannotSucceed) {
  testing::Program p(2);
  sched::Region never;
  never.entry = p.put(p.channel(0, 1), 100'000);
  never.count = 1;
  never.max_attempts = 5;
  p.builder().add_region(never);
  EXPECT_EQ(testing::error_of([&] {
              sim::run_simgrid({p.build(), machine::Platform{}});
            }),
            "region 0 (retry, from op 0 (put, rank 0)) has failed all of its 5 attempts");
}

}  // namespace
}  // namespace slackline
