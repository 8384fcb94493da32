// The floor of a makespan under every engine, and where the analytic engine is exact on networks.
#include <gtest/gtest.h>

#include <string>

#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/analytic.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/property/random_runs.h"

namespace slackline {
namespace {

using machine::Platform;
using sched::Schedule;
using testing::Dice;

Platform random_network(Dice& dice, std::uint32_t hosts_wanted) {
  const machine::NicDiscipline nic =
      dice.one_in(4) ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial;
  Platform platform = testing::random_platform(dice, nic);
  const std::string shape = dice.pick<std::string>(
      {"star", "two-level:racks=3,hosts=4,oversubscription=4",
       "two-level:racks=2,hosts=6,oversubscription=9", "fat-tree:down=4x3,up=1x2,parallel=1x1",
       "fat-tree:down=3x2x2,up=1x1x1,parallel=1x1x1", "torus:dims=3x4"});
  EXPECT_LE(hosts_wanted, 12u);
  platform.topology = machine::parse_platform_spec(shape).topology;
  platform.topology.hop_latency = sched::Time{dice.pick({0, 150'000})};
  if (shape != "star") {
    platform.placement = machine::parse_placement(
        dice.pick<std::string>({"packed", "round-robin", "random:3"}), "placement");
  }
  return platform;
}

// A flow of SimGrid's may end some picoseconds early, more so where it has little of its link.
constexpr double kSimgridEarly = 1e-6;

TEST(MakespanFloor, IsUnderEveryEngine) {
  int tight = 0;
  double worst = 0;
  int contended = 0;
  int analytic_above_simgrid = 0;
  for (std::uint32_t seed = 0; seed < 800; ++seed) {
    Dice dice(seed);
    const sched::PatternEntry& pattern =
        sched::plan_patterns()[seed % sched::plan_patterns().size()];
    const std::string spec = testing::random_spec(dice, pattern.name, 12, 6);
    const Schedule schedule = compile(sched::parse_spec(spec));
    const Platform platform = random_network(dice, schedule.rank_count());
    const machine::Wiring wiring(platform, schedule.rank_count());
    const double floor_s = analysis::makespan_floor_s({schedule, platform, wiring});
    const sched::Trace fast = analysis::run_analytic({schedule, platform});
    const double simgrid_s = sim::run_simgrid({schedule, platform}).makespan_s();
    const double near_s = 1e-9 * simgrid_s + 1e-11;
    const std::string what = spec + " on " + platform.spec();
    ASSERT_LE(floor_s, simgrid_s * (1 + kSimgridEarly)) << what;
    worst = std::max(worst, floor_s / std::max(simgrid_s, 1e-9) - 1);
    if (!fast.contended) {
      ASSERT_LE(floor_s, fast.makespan_s() + near_s) << what;
      ASSERT_NEAR(fast.makespan_s(), simgrid_s, near_s) << what;
    } else {
      ++contended;
      // No floor itself: a message that is late may let a better one pass.
      if (fast.makespan_s() > simgrid_s + near_s) ++analytic_above_simgrid;
    }
    if (floor_s > 0.8 * simgrid_s) ++tight;
  }
  EXPECT_GT(contended, 100);
  EXPECT_GT(tight, 400);
  RecordProperty("worst", std::to_string(worst * 1e12));
  RecordProperty("contended", contended);
  RecordProperty("tight", tight);
  RecordProperty("analytic_above_simgrid", analytic_above_simgrid);
}

TEST(MakespanFloor, IsUnderRandomPrograms) {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::RandomSchedule(dice, 6, 30).build();
    const Platform platform = random_network(dice, schedule.rank_count());
    const machine::Wiring wiring(platform, schedule.rank_count());
    const double floor_s = analysis::makespan_floor_s({schedule, platform, wiring});
    const double simgrid_s = sim::run_simgrid({schedule, platform}).makespan_s();
    ASSERT_LE(floor_s, simgrid_s * (1 + 1e-9) + 1e-11) << "seed " << seed;
  }
}

// One message after another out of one port: the floor is the answer.
TEST(MakespanFloor, IsTheMakespanWhereOneResourceIsAll) {
  const Platform platform = machine::load_platform("star:rate=8Gbps,latency=1us");
  const machine::Wiring wiring(platform, 6);
  const Schedule schedule = compile(sched::parse_spec("sequential:ranks=6,bytes=1MB,block=1MB"));
  EXPECT_NEAR(analysis::makespan_floor_s({schedule, platform, wiring}),
              analysis::run_analytic({schedule, platform}).makespan_s(), 5e-6);
  const Schedule nothing = compile(sched::parse_spec("chain:ranks=1,bytes=1MB"));
  EXPECT_EQ(analysis::makespan_floor_s({nothing, platform, machine::Wiring(platform, 1)}), 0);
}

}  // namespace
}  // namespace slackline
