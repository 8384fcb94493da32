// Hosts of several NICs on all simulators.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/differential/drawn_schedules.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using machine::Platform;
using sched::Schedule;
using sched::Trace;
using testing::Dice;

Platform random_platform(Dice& dice, NicDiscipline nic, bool may_share) {
  Platform platform = testing::random_platform(dice, nic);
  if (dice.one_in(2)) testing::random_node(dice, platform);
  testing::random_rails(dice, platform, may_share);
  if (dice.one_in(2)) {
    platform.placement = {machine::Placement::Kind::kRandom, dice.below(100), ""};
  }
  return platform;
}

bool has_repeated(const Trace& trace) {
  return std::any_of(trace.ops.begin(), trace.ops.end(),
                     [](const sched::OpTimes& op) { return op.attempts > 1; });
}

TEST(Rails, AreTheSameOnAllSimulators) {
  int compared = 0;
  int spread = 0;
  for (std::uint32_t seed = 0; seed < 450 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, seed);
    const Platform platform = random_platform(
        dice, seed % 4 == 0 ? NicDiscipline::kFair : NicDiscipline::kSerial, seed % 2 == 0);
    machine::DelayPlan plan =
        dice.one_in(2) ? machine::DelayPlan{} : testing::random_delays(dice, schedule);
    plan.seed = seed;
    const std::string what =
        "seed " + std::to_string(seed) + " on " + platform.spec() + "\n" + plan.text();
    const Trace events = analysis::run_events({schedule, platform, plan});
    if (events.contended) continue;  // more than the event engine knows
    if (platform.topology.kind() != machine::TopologyKind::kStar && has_repeated(events)) continue;
    const Trace simgrid = sim::run_simgrid({schedule, platform, plan});
    testing::expect_equal(simgrid, events, what);
    const Trace flows = analysis::run_flows({schedule, platform, plan});
    testing::expect_equal(flows, events, what);
    ASSERT_EQ(simgrid.results, events.results) << what;
    ASSERT_EQ(flows.results, events.results) << what;
    ++compared;
    const machine::Paths paths(schedule, machine::Wiring(platform, schedule.rank_count()), {});
    bool several = false;
    for (std::uint32_t p = 0; p < paths.size(); ++p) {
      several = several || paths[machine::PathId(p)].src_nic.value % platform.node.rails.count != 0;
    }
    spread += several ? 1 : 0;
  }
  EXPECT_GT(compared, 250);
  EXPECT_GT(spread, 150);
}

TEST(Rails, HaveAFloorThatNoRunBeats) {
  int close = 0;
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, 1 + 3 * seed + seed % 2);
    const Platform platform = random_platform(
        dice, seed % 4 == 0 ? NicDiscipline::kFair : NicDiscipline::kSerial, seed % 2 == 0);
    const machine::Wiring wiring(platform, schedule.rank_count());
    const double floor_s = analysis::makespan_floor_s({schedule, platform, wiring});
    const double run_s = analysis::run_flows({schedule, platform, wiring}).makespan_s();
    ASSERT_LE(floor_s, run_s * (1 + 1e-12)) << seed << " on " << platform.spec();
    close += floor_s > 0.8 * run_s ? 1 : 0;
  }
  EXPECT_GT(close, 100);
}

}  // namespace
}  // namespace slackline
