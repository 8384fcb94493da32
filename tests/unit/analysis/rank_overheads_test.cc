// What a slower processor of one rank costs, against sums by hand.
#include "analysis/slack/rank_overheads.h"

#include <gtest/gtest.h>

#include "analysis/engines/flow_engine.h"
#include "machine/platform.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using testing::us;

// Rank 0 calculates and sends to rank 1, which sends on to rank 2. What rank 1 calculates, and all
// receives, are done long before.
sched::Schedule relay() {
  testing::Program program(3);
  const sched::ChannelId first = program.channel(0, 1), second = program.channel(1, 2);
  program.calc(0, us(100));
  program.send(first, 8);
  program.calc(1, us(10));
  const sched::OpId got = program.recv(first, 8);
  program.after({got}, program.send(second, 8));
  program.recv(second, 8);
  return program.build();
}

machine::Platform platform() {
  return machine::parse_platform_spec(
      "star:rate=100Gbps,latency=2us,o_post=1us,o_complete=0,gap=0");
}

TEST(RankOverheads, AreOfWhatTheRankDoesOnTheCriticalPath) {
  const sched::Schedule schedule = relay();
  const machine::Platform star = platform();
  const machine::Setting setting(schedule, star);
  const double makespan_s = kFlowEngine.run(setting).makespan_s();
  const auto found = rank_overheads(setting, kFlowEngine, 2);
  ASSERT_EQ(found.size(), 3u);
  // 100 us and a post; a post; nothing.
  const double own_s[] = {101e-6, 1e-6, 0};
  for (std::uint32_t r = 0; r < 3; ++r) {
    EXPECT_EQ(found[r].rank, sched::RankId(r));
    EXPECT_NEAR(found[r].slower_s, makespan_s + 0.01 * own_s[r], 1e-12) << "rank " << r;
    EXPECT_NEAR(found[r].twice_s, makespan_s + own_s[r], 1e-12) << "rank " << r;
  }
}

TEST(RankOverheads, AStragglerIsSlowerByItsOwnTimeAlone) {
  const sched::Schedule schedule = relay();
  const machine::Platform star = platform();
  machine::DelayPlan plan;
  plan.stragglers.push_back({sched::RankId(0), 3, us(1)});
  const machine::Setting setting(schedule, star, plan);
  const double makespan_s = kFlowEngine.run(setting).makespan_s();
  const auto found = rank_overheads(setting, kFlowEngine, 1);
  EXPECT_NEAR(found[0].twice_s, makespan_s + 101e-6, 1e-12);
  EXPECT_NEAR(found[1].twice_s, makespan_s + 1e-6, 1e-12);
  EXPECT_EQ(plan.stragglers.size(), 1u);
}

}  // namespace
}  // namespace slackline::analysis
