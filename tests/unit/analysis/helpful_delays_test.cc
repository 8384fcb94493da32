// Delays that are said to help, in runs that have them.
#include "analysis/slack/helpful_delays.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

#include "analysis/engines/flow_engine.h"
#include "sched/compile.h"

namespace slackline::analysis {
namespace {

using machine::DelayPlan;
using machine::Platform;
using machine::Wiring;
using sched::Schedule;

TEST(HelpfulDelays, ReallyHelpAloneAndTogether) {
  const Schedule schedule =
      compile(sched::parse_spec("binomial-pipeline:ranks=16,bytes=1MiB,block=128KiB"));
  const Platform platform = machine::load_platform(
      "two-level:racks=4,hosts=4,oversubscription=4,placement=round-robin,o_post=100ns");
  const Wiring wiring(platform, schedule.rank_count());
  DelayPlan plan;
  plan.ops.push_back({sched::OpId(3), sched::Time{2'000'000}, true, sched::RankId::none()});
  const auto makespan_s = [&](const DelayPlan& delays) {
    return run_flows({schedule, platform, wiring, delays}).makespan_s();
  };
  const HelpfulDelays found = helpful_delays({{schedule, platform, wiring, plan}, 2, {}});
  EXPECT_EQ(found.makespan_s, makespan_s(plan));
  ASSERT_FALSE(found.together.empty());
  EXPECT_LE(found.together.size(), 4u);
  double best_s = found.makespan_s;
  DelayPlan together = plan;
  for (const HelpfulDelay& helpful : found.together) {
    together.ops.push_back(helpful.delay);
    EXPECT_EQ(helpful.makespan_s, makespan_s(together));
    EXPECT_LT(helpful.makespan_s, best_s);
    best_s = helpful.makespan_s;
  }
  double last_s = 0;
  std::set<sched::Time> sizes;
  for (const HelpfulDelay& helpful : found.singles) {
    DelayPlan alone = plan;
    alone.ops.push_back(helpful.delay);
    EXPECT_EQ(helpful.makespan_s, makespan_s(alone));
    EXPECT_LT(helpful.makespan_s, found.makespan_s);
    EXPECT_GE(helpful.makespan_s, last_s) << "best first";
    last_s = helpful.makespan_s;
    sizes.insert(helpful.delay.by);
  }
  EXPECT_GT(sizes.size(), 2u) << "not each operation needs the same";
  EXPECT_EQ(found.together.front().makespan_s, found.singles.front().makespan_s);

  const HelpfulDelays again = helpful_delays({{schedule, platform, wiring, plan}, 1, {}});
  EXPECT_EQ(again.runs, found.runs);
  ASSERT_EQ(again.together.size(), found.together.size());
  for (std::size_t i = 0; i < found.together.size(); ++i) {
    EXPECT_EQ(again.together[i].delay, found.together[i].delay);
  }
}

TEST(HelpfulDelays, AreNoneWhereNothingIsSharedAndTheOrderIsFixed) {
  const Schedule schedule =
      compile(sched::parse_spec("chain:ranks=4,bytes=400KB,block=100KB,ready=none"));
  const Platform platform = machine::load_platform("star:rate=80Gbps,latency=1us");
  const Wiring wiring(platform, schedule.rank_count());
  const HelpfulDelays found = helpful_delays({{schedule, platform, wiring}, 1, {}});
  EXPECT_TRUE(found.singles.empty());
  EXPECT_TRUE(found.together.empty());
  EXPECT_GT(found.runs, 3u * schedule.op_count());
}

}  // namespace
}  // namespace slackline::analysis
