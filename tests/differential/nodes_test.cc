// Machines of several ranks on both simulators.
#include <gtest/gtest.h>

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
    const Platform platform =
        random_nodes(dice, seed % 4 == 0 ? NicDiscipline::kFair : NicDiscipline::kSerial);
    machine::DelayPlan plan =
        dice.one_in(2) ? machine::DelayPlan{} : testing::random_delays(dice, schedule);
    plan.seed = seed;
    const std::string what =
        "seed " + std::to_string(seed) + " on " + platform.spec() + "\n" + plan.text();
    const Trace events = analysis::run_events({schedule, platform, plan});
    if (events.contended) continue;  // more than the event engine knows
    const Trace simgrid = sim::run_simgrid({schedule, platform, plan});
    testing::expect_equal(simgrid, events, what);
    ASSERT_EQ(simgrid.results, events.results) << what;
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
    Platform platform =
        random_nodes(dice, seed % 4 == 0 ? NicDiscipline::kFair : NicDiscipline::kSerial);
    testing::random_sharing(dice, platform);
    if (dice.one_in(3)) platform.node.rails.count = 2;
    if (seed % 2 == 0) testing::lock_pairs(platform);
    const std::string what = "seed " + std::to_string(seed) + " on " + platform.spec();
    const Trace events = analysis::run_events({schedule, platform});
    if (events.contended) continue;  // more than the event engine knows
    testing::expect_equal(sim::run_simgrid({schedule, platform}), events, what);
    testing::expect_equal(analysis::run_flows({schedule, platform}), events, what);
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
    const Trace a = analysis::run_events({schedule, plain});
    const Trace b = analysis::run_events({schedule, node});
    for (std::size_t i = 0; i < a.ops.size(); ++i) {
      ASSERT_EQ(a.ops[i].issued_s, b.ops[i].issued_s);
      ASSERT_EQ(a.ops[i].wire_s, b.ops[i].wire_s);
      ASSERT_EQ(a.ops[i].done_s, b.ops[i].done_s);
    }
  }
}

TEST(Nodes, HaveAFloorThatNoRunBeats) {
  int close = 0;
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, 1 + 3 * seed + seed % 2);
    Platform platform = random_nodes(dice, NicDiscipline::kSerial);
    if (seed % 3 == 0) testing::random_sharing(dice, platform);
    const machine::Wiring wiring(platform, schedule.rank_count());
    const double floor_s = analysis::makespan_floor_s({schedule, platform, wiring});
    const double run_s = analysis::run_analytic({schedule, platform, wiring}).makespan_s();
    ASSERT_LE(floor_s, run_s * (1 + 1e-12)) << seed << " on " << platform.spec();
    close += floor_s > 0.8 * run_s ? 1 : 0;
  }
  EXPECT_GT(close, 100);
}

}  // namespace
}  // namespace slackline
