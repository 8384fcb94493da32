// Machines of several ranks on both simulators.
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "tests/differential/agreement.h"
#include "tests/differential/drawn_schedules.h"
#include "tests/support/random_dynamic.h"
#include "tests/unit/analysis/rank_programs.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using machine::Platform;
using sched::Schedule;
using sched::Trace;
using testing::Dice;

// A star, or two racks whose uplinks hold all that crosses them.
Platform random_nodes(Dice& dice, NicDiscipline nic) {
  Platform platform = testing::random_platform(dice, nic);
  testing::random_node(dice, platform);
  if (dice.one_in(3)) {
    platform.topology.shape = machine::TwoLevel{2, 32, {}, 1};
    platform.topology.hop_latency = sched::Time{150'000};
  }
  if (dice.one_in(2)) {
    platform.placement = {machine::Placement::Kind::kRandom, dice.below(100), ""};
  }
  return platform;
}

TEST(Nodes, AreTheSameOnSimgridAndWithEvents) {
  int compared = 0;
  int shared = 0;
  for (std::uint32_t seed = 0; seed < 450 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, seed);
    const Platform platform = random_nodes(dice, testing::drawn_discipline(seed));
    machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    plan.seed = seed;
    const std::string what = testing::sample_text(seed, platform, plan);
    const Trace events = analysis::run_events({schedule, platform, plan});
    if (events.contended) continue;  // more than the event engine knows
    testing::expect_all_equal({schedule, platform, plan}, events, what);
    ++compared;
    shared += platform.node.is_shared() ? 1 : 0;
  }
  EXPECT_GT(compared, 350);
  EXPECT_GT(shared, 300);
}

// What threads share, and NICs away from their ranks: with one NIC a machine, or a few.
TEST(Nodes, WhoseThreadsShareAreTheSameOnSimgridAndWithEvents) {
  int compared = 0;
  int told_apart = 0;
  for (std::uint32_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, seed);
    Platform platform = random_nodes(dice, testing::drawn_discipline(seed));
    testing::random_sharing(dice, platform);
    if (dice.one_in(3)) platform.node.rails.count = 2;
    if (seed % 2 == 0) testing::lock_pairs(platform);
    const std::string what = "seed " + std::to_string(seed) + " on " + platform.spec();
    const Trace events = analysis::run_events({schedule, platform});
    if (events.contended) continue;  // more than the event engine knows
    testing::expect_all_equal({schedule, platform}, events, what);
    ++compared;
    Platform without = platform;
    without.node.qp_sharer = without.node.qp_lock = {};
    without.node.update_sharer = without.node.numa_hop = {};
    const double plain_s = analysis::run_events({schedule, without}).makespan_s();
    told_apart += events.makespan_s() != plain_s ? 1 : 0;
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(told_apart, 60);
}

TEST(Nodes, OfOneRankAreWhatRanksWere) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, seed);
    const Platform plain = testing::random_platform(dice, NicDiscipline::kSerial);
    Platform node = plain;
    node.node.zones = 2;
    node.node.memory_latency = sched::Time{7};
    node.node.cpu_atomic = node.node.cpu_atomic_sharer = sched::Time{900'000};
    node.node.qp_sharer = node.node.update_sharer = node.node.numa_hop = sched::Time{900'000};
    testing::expect_same_run(analysis::run_events({schedule, plain}),
                             analysis::run_events({schedule, node}),
                             testing::sample_text(seed, node));
  }
}

TEST(Nodes, HaveAFloorThatNoRunBeats) {
  int close = 0;
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, 1 + 3 * seed + seed % 2);
    Platform platform = random_nodes(dice, NicDiscipline::kSerial);
    if (seed % 3 == 0) testing::random_sharing(dice, platform);
    const machine::Setting setting(schedule, platform);
    const std::string what = testing::sample_text(seed, platform);
    close += testing::is_close_above_floor(setting, analysis::run_analytic(setting), what) ? 1 : 0;
  }
  EXPECT_GT(close, 100);
}

}  // namespace
}  // namespace slackline
