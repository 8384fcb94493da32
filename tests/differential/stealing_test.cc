// Searches that steal as they run, inside SimGrid: by the same rules as on clocks of our own.
#include <gtest/gtest.h>

#include "analysis/engines/event_engine.h"
#include "analysis/stealing/work_stealing.h"
#include "machine/setting.h"
#include "sim/simgrid_engine.h"

namespace slackline {
namespace {

TEST(StealingRuns, SimGridDecidesTheSameWhereNothingIsShared) {
  analysis::StealOptions options;
  options.tree = *sched::uts_sample("T1");
  options.tree.depth = 5;
  options.ranks = 6;
  const machine::Platform platform = machine::load_platform("fractus");
  const auto found_by = [&](const machine::Engine& engine) {
    return analysis::search_stealing(options, platform, machine::kNoDelays, engine, "test");
  };
  const analysis::StolenSearch simgrid = found_by(sim::kSimgridEngine);
  const analysis::StolenSearch events = found_by(analysis::kEventEngine);
  EXPECT_NEAR(simgrid.figures.makespan_s, events.figures.makespan_s,
              1e-9 * events.figures.makespan_s);
  EXPECT_EQ(simgrid.schedule.digest(), events.schedule.digest());
  const double again_s = sim::kSimgridEngine.run({simgrid.schedule, platform}).makespan_s();
  EXPECT_NEAR(again_s, simgrid.figures.makespan_s, 1e-9 * again_s);
}

// What shares a link there is decided by what sharing makes of it.
TEST(StealingRuns, InSimGridTheScheduleTakesAsLongAsTheSearch) {
  analysis::StealOptions options;
  options.tree = *sched::uts_sample("T1");
  options.tree.depth = 6;
  options.ranks = 8;
  options.look = 32;
  const machine::Platform platform = machine::load_platform(
      "two-level:racks=2,hosts=4,uplink=100Mbps,rate=1Gbps,latency=1us,interleave=64B");
  const analysis::StolenSearch found =
      analysis::search_stealing(options, platform, machine::kNoDelays, sim::kSimgridEngine, "test");
  const double again_s = sim::kSimgridEngine.run({found.schedule, platform}).makespan_s();
  EXPECT_NEAR(again_s, found.figures.makespan_s, 1e-9 * again_s);
}

}  // namespace
}  // namespace slackline
