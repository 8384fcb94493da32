// Hosts of several NICs on all simulators.
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
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

TEST(Rails, AreTheSameOnAllSimulators) {
  int compared = 0;
  int spread = 0;
  for (std::uint32_t seed = 0; seed < 450 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, seed);
    const Platform platform = random_platform(dice, testing::drawn_discipline(seed), seed % 2 == 0);
    machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    plan.seed = seed;
    const std::string what = testing::sample_text(seed, platform, plan);
    const Trace events = analysis::run_events({schedule, platform, plan});
    if (events.contended) continue;  // more than the event engine knows
    if (platform.topology.kind() != machine::TopologyKind::kStar && testing::has_repeated(events))
      continue;
    testing::expect_all_equal({schedule, platform, plan}, events, what);
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
    const Platform platform = random_platform(dice, testing::drawn_discipline(seed), seed % 2 == 0);
    const machine::Setting setting(schedule, platform);
    const std::string what = testing::sample_text(seed, platform);
    close += testing::is_close_above_floor(setting, analysis::run_flows(setting), what) ? 1 : 0;
  }
  EXPECT_GT(close, 100);
}

}  // namespace
}  // namespace slackline
