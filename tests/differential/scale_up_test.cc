// Networks within hosts, with one NIC and with several, and hosts that differ, on all simulators.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/fluid_engine.h"
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

Platform random_pods(Dice& dice, NicDiscipline nic, bool may_share) {
  Platform platform = testing::random_platform(dice, nic);
  testing::random_node(dice, platform);
  platform.node.ranks = 2 + dice.below(7);
  platform.topology = {};
  if (dice.one_in(2)) {
    testing::random_rails(dice, platform, may_share);
  } else if (may_share) {
    platform.topology =
        machine::parse_platform_spec("two-level:racks=4,hosts=8,oversubscription=4").topology;
  }
  platform.node.scale_up = {{dice.pick<std::uint64_t>({20, 90, 400}) * 1'000'000'000},
                            sched::Time{dice.pick({0, 200'000, 900'000})}};
  platform.ack_bytes = dice.pick<std::uint64_t>({0, 0, 4});
  platform.hosts = {};
  if (dice.one_in(2)) platform.hosts.rate.runs = {{1, 2, {7'000'000'000}}};
  if (dice.one_in(2)) platform.hosts.latency.runs = {{0, 0, sched::Time{450'000}}};
  if (dice.one_in(2)) platform.hosts.scale_up_rate.runs = {{1, 1, {15'000'000'000}}};
  if (dice.one_in(2)) {
    platform.placement = {machine::Placement::Kind::kRandom, dice.below(100), ""};
  }
  return platform;
}

// Whether some message goes over a network within, and another through NICs.
bool does_both(const Schedule& schedule, const Platform& platform) {
  const machine::Paths paths(schedule, machine::Wiring(platform, schedule.rank_count()), {});
  bool within = false;
  bool across = false;
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    within = within || paths[machine::PathId(p)].scale_up;
    across = across || !paths[machine::PathId(p)].passes_no_nic();
  }
  return within && across;
}

// As SimGrid rounds where links are shared (docs/simulation.md, Rounding).
constexpr double kSimgridNear_s = 5e-9;

TEST(ScaleUp, IsTheSameOnAllSimulators) {
  int compared = 0;
  int both = 0;
  int contended = 0;
  int ties = 0;
  for (std::uint32_t seed = 0; seed < 400 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, seed);
    const Platform platform = random_pods(dice, testing::drawn_discipline(seed), seed % 2 == 0);
    machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    plan.seed = seed;
    const std::string what = testing::sample_text(seed, platform, plan);
    const Trace events = analysis::run_events({schedule, platform, plan});
    const Trace flows = analysis::run_flows({schedule, platform, plan});
    if (events.contended) {
      // Where messages share, what is fluid is held to what is fluid. SimGrid's rounding may put
      // another of two events first that tie.
      const Trace simgrid = sim::run_simgrid({schedule, platform, plan});
      ties += std::abs(simgrid.makespan_s() - flows.makespan_s()) < kSimgridNear_s ? 0 : 1;
      ++contended;
      continue;
    }
    testing::expect_equal(sim::run_simgrid({schedule, platform, plan}), events, what + " simgrid");
    testing::expect_equal(flows, events, what + " flow");
    testing::expect_equal(analysis::run_fluid({schedule, platform, plan}), events, what + " fluid");
    if (schedule.is_static()) {
      testing::expect_equal(analysis::run_analytic({schedule, platform, plan}), events,
                            what + " analytic");
    }
    ++compared;
    both += does_both(schedule, platform) ? 1 : 0;
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(both, 100);
  EXPECT_GT(contended, 20);
  EXPECT_LE(ties, 1);
}

TEST(ScaleUp, HasAFloorThatNoRunBeats) {
  int close = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::wide_schedule(dice, 1 + 3 * seed + seed % 2);
    Platform platform = random_pods(dice, testing::drawn_discipline(seed), seed % 2 == 0);
    platform.ack_bytes = 0;
    const machine::Setting setting(schedule, platform);
    const std::string what = testing::sample_text(seed, platform);
    close += testing::is_close_above_floor(setting, analysis::run_flows(setting), what) ? 1 : 0;
  }
  EXPECT_GT(close, 60);
}

}  // namespace
}  // namespace slackline
