// Acknowledgements that use the ports: the simulators agree, and none of them comes sooner than one
// that has its way to itself.
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/event_engine.h"
#include "tests/differential/agreement.h"
#include "tests/differential/drawn_schedules.h"
#include "tests/property/random_runs.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using machine::Platform;
using sched::Schedule;
using sched::Trace;
using testing::Dice;

TEST(Acks, AreTheSameOnAllSimulators) {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 250 && !::testing::Test::HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::small_schedule(dice, seed);
    Platform platform = testing::random_platform(dice, testing::drawn_discipline(seed));
    platform.ack_bytes = dice.pick<std::uint64_t>({1, 20, 66, 5'000});
    if (dice.one_in(3)) platform.o_poll = sched::Time{90'000};
    const machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    const std::string what = testing::sample_text(seed, platform, plan);
    const Trace events = analysis::run_events({schedule, platform, plan});
    if (events.contended) continue;
    testing::expect_all_equal({schedule, platform, plan}, events, what);
    ++compared;
  }
  EXPECT_GT(compared, 150);
}

}  // namespace
}  // namespace slackline
