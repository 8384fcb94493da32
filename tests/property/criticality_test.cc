// How often operations are critical, against sample after sample by hand.
#include "analysis/slack/criticality.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/engines/analytic.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "tests/property/random_samples.h"

namespace slackline {
namespace {

using analysis::Criticality;
using machine::DelayPlan;
using machine::Platform;
using sched::OpId;
using sched::RankId;
using sched::Schedule;

DelayPlan noise(std::int64_t mean_ps) {
  DelayPlan plan;
  machine::Noise noise;
  noise.of.kind = machine::Distribution::Kind::kExponential;
  noise.of.mean = sched::Time{mean_ps};
  noise.chance.value = 200'000;
  plan.noise.push_back(noise);
  plan.seed = 7;
  return plan;
}

Criticality of(const Schedule& schedule, const Platform& platform, const DelayPlan& plan,
               std::uint32_t samples, std::uint32_t jobs) {
  return analysis::criticality({schedule, platform, plan}, analysis::kAnalyticEngine,
                               {samples, jobs, {}});
}

TEST(Criticality, CountsTheCriticalPathsOfItsSamples) {
  const Platform platform = machine::load_platform("fractus");
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const testing::Sample sample =
        seed % 2 == 0 ? testing::random_program(seed) : testing::random_pattern(seed);
    const Schedule& schedule = sample.schedule;
    const DelayPlan plan = noise(4'000'000);
    constexpr std::uint32_t kSamples = 20;
    const Criticality found = of(schedule, platform, plan, kSamples, 2);
    std::vector<std::uint32_t> of_op(schedule.op_count(), 0);
    std::vector<std::uint32_t> of_rank(schedule.rank_count(), 0);
    for (std::uint32_t i = 0; i < kSamples; ++i) {
      DelayPlan drawn = plan;
      drawn.seed += i;
      const sched::Trace trace = analysis::run_analytic({schedule, platform, drawn});
      const auto path = analysis::timed_slack({schedule, platform, drawn}, trace).critical_path;
      std::set<RankId> ranks;
      for (const OpId id : std::set<OpId>(path.begin(), path.end())) {
        ++of_op[id.value];
        ranks.insert(schedule.op(id).rank);
      }
      for (const RankId rank : ranks) ++of_rank[rank.value];
      ASSERT_EQ(found.makespan_s[i], trace.makespan_s());
    }
    ASSERT_EQ(found.of_op, of_op) << sample.what;
    ASSERT_EQ(found.of_rank, of_rank) << sample.what;
  }
}

TEST(Criticality, IsTheSameForAnyNumberOfJobs) {
  const Schedule schedule =
      compile(sched::parse_spec("binomial-pipeline:ranks=16,bytes=1MiB,block=64KiB"));
  const Platform platform = machine::load_platform("fractus");
  const Criticality one = of(schedule, platform, noise(3'000'000), 60, 1);
  for (const std::uint32_t jobs : {2u, 3u, 8u, 100u}) {
    const Criticality many = of(schedule, platform, noise(3'000'000), 60, jobs);
    EXPECT_EQ(one.of_op, many.of_op);
    EXPECT_EQ(one.of_rank, many.of_rank);
    EXPECT_EQ(one.makespan_s, many.makespan_s);
  }
}

TEST(Criticality, WithoutNoiseIsAllOrNothing) {
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=4,bytes=400KB,block=100KB"));
  const Platform platform = machine::load_platform("fractus");
  for (const DelayPlan& plan : {DelayPlan{}, noise(0)}) {
    const Criticality found = of(schedule, platform, plan, 9, 2);
    const auto path = analysis::timed_slack({schedule, platform, plan},
                                            analysis::run_analytic({schedule, platform, plan}))
                          .critical_path;
    const std::set<OpId> critical(path.begin(), path.end());
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      EXPECT_EQ(found.of_op[i], critical.contains(OpId(i)) ? 9u : 0u);
    }
  }
}

TEST(Criticality, OfNothing) {
  const Platform platform = machine::load_platform("fractus");
  const Criticality none =
      of(compile(sched::parse_spec("chain:ranks=1,bytes=1MiB")), platform, noise(1'000), 5, 2);
  EXPECT_TRUE(none.of_op.empty());
  EXPECT_EQ(none.of_rank, std::vector<std::uint32_t>{0});
  EXPECT_EQ(none.makespan_s, std::vector<double>(5, 0));
}

TEST(Criticality, OfRunsThatNeverEndIsRefused) {
  const Platform platform = machine::load_platform("fractus");
  DelayPlan plan = noise(1'000);
  plan.failures.push_back({"", RankId(1), sched::Time{1}});
  EXPECT_THROW(of(compile(sched::parse_spec("chain:ranks=3,bytes=1MiB")), platform, plan, 5, 2),
               InputError);
}

}  // namespace
}  // namespace slackline
