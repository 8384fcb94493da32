#include "analysis/slack/exact_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/engines/flow_engine.h"
#include "analysis/slack/critical_path.h"
#include "analysis/slack/timed_slack.h"
#include "analysis/slack/validate.h"
#include "sched/compile.h"
#include "tests/support/sanitized.h"

namespace slackline::analysis {
namespace {

using machine::Platform;
using machine::Setting;
using sched::OpId;
using sched::Schedule;
using sched::Time;

std::vector<OpId> all_ops(const Schedule& schedule) {
  std::vector<OpId> ops;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) ops.emplace_back(i);
  return ops;
}

// What a delay costs, by a whole run.
double cost_s(const Setting& setting, OpId op, Time by, double makespan_s) {
  machine::DelayPlan plan = setting.delays;
  plan.ops.push_back(trial_of(setting, op, by));
  return run_flows(setting.with(plan)).makespan_s() - makespan_s;
}

struct Case {
  const char* spec;
  const char* platform;
};

const Case kShared[] = {
    {"double-tree:ranks=8,bytes=512KiB,block=128KiB",
     "two-level:racks=2,hosts=4,oversubscription=4,rate=100Gbps,latency=1us"},
    {"binomial-pipeline:ranks=6,bytes=384KiB,block=128KiB",
     "two-level:racks=3,hosts=2,oversubscription=2,placement=round-robin"},
    {"circulant:ranks=5,bytes=256KiB,block=64KiB",
     "fat-tree:arity=4,nic=fair,rate=40Gbps,latency=500ns,o_post=100ns"},
};

// Delays in equal steps, run whole: the float found is where they begin to cost.
TEST(ExactFloat, IsWhereWholeRunsBeginToCost) {
  std::size_t monotone = 0;
  std::size_t less = 0;
  for (const Case& c : kShared) {
    const Schedule schedule = compile(sched::parse_spec(c.spec));
    const Platform platform = machine::parse_platform_spec(c.platform);
    const Setting setting(schedule, platform);
    const DelayedRuns runs(setting);
    const double makespan_s = runs.undelayed().makespan_s();
    const double rounding = rounding_s(makespan_s);
    const Time resolution = float_resolution(makespan_s);
    const std::vector<ExactFloat> floats = exact_floats(runs, all_ops(schedule), 2);
    const TimedSlack frozen = slack_of_run(setting, runs.undelayed());
    constexpr std::int64_t kSteps = 60;
    const Time step{std::llround(makespan_s * 1e12) / (kSteps - 4)};
    ASSERT_EQ(floats.size(), schedule.op_count());
    const std::uint32_t every = testing::kSanitized ? 10 : 3;
    for (std::uint32_t i = 0; i < schedule.op_count(); i += every) {
      const ExactFloat& found = floats[i];
      SCOPED_TRACE(std::string(c.spec) + ", op " + std::to_string(i));
      EXPECT_LE(cost_s(setting, OpId(i), found.free_until, makespan_s), rounding);
      EXPECT_GT(cost_s(setting, OpId(i), found.costs_from, makespan_s), rounding);
      EXPECT_LE(cost_s(setting, OpId(i), found.largest_free, makespan_s), rounding);
      EXPECT_LE(found.costs_from - found.free_until, resolution);
      EXPECT_GE(found.largest_free, found.free_until);
      Time free_until{0}, largest_free{0}, costs_from{0};
      for (std::int64_t k = 1; k <= kSteps; ++k) {
        const bool costs = cost_s(setting, OpId(i), k * step, makespan_s) > rounding;
        if (!costs) largest_free = k * step;
        if (costs && costs_from == Time{0}) costs_from = k * step;
        if (!costs && costs_from == Time{0}) free_until = k * step;
      }
      if (free_until != largest_free || !found.monotone()) continue;
      ++monotone;
      EXPECT_GE(found.costs_from, free_until);
      EXPECT_LE(found.free_until, costs_from);
      if (sched::seconds(found.free_until) < frozen.total_float_s[i] - 1e-9) ++less;
    }
  }
  EXPECT_GT(monotone, 20u);
  EXPECT_GT(less, 0u);  // a frozen float is no promise
}

// Where nothing is shared and arcs fix every order, it is the total float.
TEST(ExactFloat, IsTheTotalFloatWhereNothingIsShared) {
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=5,bytes=512KiB,block=64KiB"));
  const Platform platform = machine::parse_platform_spec("star:rate=100Gbps,latency=1us");
  const Setting setting(schedule, platform);
  const DelayedRuns runs(setting);
  const TimedSlack slack = timed_slack(setting, runs.undelayed());
  const std::vector<ExactFloat> floats = exact_floats(runs, all_ops(schedule), 1);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    EXPECT_TRUE(floats[i].monotone()) << i;
    EXPECT_NEAR(sched::seconds(floats[i].free_until), slack.total_float_s[i], 4e-12) << i;
  }
}

TEST(ExactFloat, IsTheSameWhateverTheJobs) {
  const Schedule schedule = compile(sched::parse_spec(kShared[0].spec));
  const Platform platform = machine::parse_platform_spec(kShared[0].platform);
  const DelayedRuns runs({schedule, platform});
  const std::vector<OpId> ops = {OpId(3), OpId(20), OpId(11)};
  std::vector<std::uint32_t> told;
  const auto one = exact_floats(runs, ops, 1, [&](std::uint32_t done) { told.push_back(done); });
  const auto three = exact_floats(runs, ops, 3);
  EXPECT_EQ(told, std::vector<std::uint32_t>{3});
  for (std::size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(one[i].free_until, three[i].free_until);
    EXPECT_EQ(one[i].costs_from, three[i].costs_from);
    EXPECT_EQ(one[i].largest_free, three[i].largest_free);
  }
  EXPECT_TRUE(exact_floats(runs, {}, 1).empty());
}

}  // namespace
}  // namespace slackline::analysis
