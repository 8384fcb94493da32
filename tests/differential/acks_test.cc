// Acknowledgements that use the ports: the simulators agree, and none of them comes sooner than one
// that has its way to itself.
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/differential/drawn_schedules.h"
#include "tests/property/random_runs.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using machine::Platform;
using sched::Schedule;
using sched::Trace;
using testing::Dice;

TEST(Acks, AreTheSameOnAllSimulators) {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 250 && !::testing::Test::HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::small_schedule(dice, seed);
    Platform platform = testing::random_platform(
        dice, seed % 4 == 0 ? NicDiscipline::kFair : NicDiscipline::kSerial);
    platform.ack_bytes = dice.pick<std::uint64_t>({1, 20, 66, 5'000});
    if (dice.one_in(3)) platform.o_poll = sched::Time{90'000};
    const machine::DelayPlan plan =
        dice.one_in(2) ? testing::random_delays(dice, schedule) : machine::DelayPlan{};
    const std::string what =
        "seed " + std::to_string(seed) + " on " + platform.spec() + "\n" + plan.text();
    const Trace events = analysis::run_events({schedule, platform, plan});
    if (events.contended) continue;
    testing::expect_equal(sim::run_simgrid({schedule, platform, plan}), events, what);
    testing::expect_equal(analysis::run_flows({schedule, platform, plan}), events, what);
    ++compared;
  }
  EXPECT_GT(compared, 150);
}

}  // namespace
}  // namespace slackline
