// Slack held against runs that SimGrid really delayed: the same as with the analytic engine on a
// star, and measured where links are shared.
#include "analysis/slack/validate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"

namespace slackline {
namespace {

using analysis::Validation;
using machine::OpDelay;
using machine::Platform;
using sched::OpId;
using sched::Schedule;
using sched::Time;

std::vector<machine::OpDelay> trials_of(const Schedule& schedule, const Platform& platform,
                                        Time by) {
  std::vector<machine::OpDelay> trials;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    trials.push_back({OpId(i), by, analysis::delays_lane({schedule, platform}, OpId(i))});
  }
  return trials;
}

TEST(ValidateOnSimgrid, IsTheAnalyticAnswerOnAStar) {
  for (const char* star : {"fractus", "star:rate=40Gbps,latency=2us,nic=fair"}) {
    const Platform platform = machine::load_platform(star);
    for (const sched::PatternEntry& pattern : sched::plan_patterns()) {
      const Schedule schedule = compile(
          sched::parse_spec(fmt::format("{}:ranks=5,bytes=200KiB,block=64KiB", pattern.name)));
      const machine::Wiring wiring(platform, schedule.rank_count());
      const sched::Trace base = sim::run_simgrid({schedule, platform});
      const std::vector<machine::OpDelay> trials = trials_of(schedule, platform, Time{3'000'000});
      machine::PlanRuns runs;
      runs.jobs = 2;
      const Validation a = analysis::run_trials({schedule, platform, wiring, {}}, base, trials,
                                                sim::kSimgridEngine, runs);
      const Validation b = analysis::run_trials({schedule, platform, wiring, {}}, base, trials,
                                                analysis::kAnalyticEngine, runs);
      const std::vector<double> float_s =
          analysis::timed_slack({schedule, platform, {}}, base).total_float_s;
      const std::vector<double> errors_s = analysis::errors_of(a, float_s);
      const double near_s = analysis::exact_within_s(a.makespan_s);
      for (std::size_t i = 0; i < trials.size(); ++i) {
        const std::string what =
            fmt::format("{} on {}, op {}", pattern.name, star, trials[i].op.value);
        ASSERT_EQ(a.trials[i].shared, b.trials[i].shared) << what;
        if (a.trials[i].shared) continue;
        ASSERT_NEAR(a.trials[i].shift_s, b.trials[i].shift_s, near_s) << what;
        ASSERT_EQ(a.trials[i].order_kept, b.trials[i].order_kept) << what;
        if (a.trials[i].order_kept) {
          ASSERT_LE(std::abs(errors_s[i]), near_s) << what;
        }
      }
    }
  }
}

TEST(ValidateOnSimgrid, ManyRunsAreWhatEachIsAlone) {
  const Platform platform =
      machine::load_platform("two-level:racks=3,hosts=3,oversubscription=4,placement=round-robin");
  const Schedule schedule =
      compile(sched::parse_spec("binomial-pipeline:ranks=9,bytes=400KiB,block=100KiB"));
  const machine::Wiring wiring(platform, schedule.rank_count());
  const auto plan = [](std::uint32_t run) {
    machine::DelayPlan delayed;
    delayed.ops.push_back({OpId(3 * run), Time{5'000'000 + run}, false, sched::RankId::none()});
    return delayed;
  };
  machine::PlanRuns runs;
  runs.count = 20;
  runs.plan = plan;
  const machine::TraceReading reading{2, [](const sched::Trace& trace, std::span<double> kept) {
                                        kept[0] = trace.makespan_s();
                                        kept[1] = trace.ops[7].done_s;
                                      }};
  runs.jobs = 1;
  const std::vector<double> one =
      sim::kSimgridEngine.runs({schedule, platform, wiring}, runs, reading);
  runs.jobs = 3;
  EXPECT_EQ(one, sim::kSimgridEngine.runs({schedule, platform, wiring}, runs, reading));
  ASSERT_EQ(one.size(), 40u);
  for (std::uint32_t i = 0; i < runs.count; ++i) {
    const sched::Trace alone = sim::run_simgrid({schedule, platform, plan(i)});
    EXPECT_EQ(one[2 * i], alone.makespan_s());
    EXPECT_EQ(one[2 * i + 1], alone.ops[7].done_s);
  }
}

TEST(ValidateOnSimgrid, RefusesRunsOfDifferentNetworks) {
  const Platform platform = machine::load_platform("fractus");
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=3,bytes=1MiB"));
  const machine::Wiring wiring(platform, schedule.rank_count());
  machine::PlanRuns runs;
  runs.count = 2;
  runs.plan = [](std::uint32_t run) {
    machine::DelayPlan plan;
    if (run == 1) plan.pairs.push_back({sched::RankId(0), sched::RankId(1), {1'000'000'000}});
    return plan;
  };
  const machine::TraceReading reading{1, [](const sched::Trace&, std::span<double>) {}};
  EXPECT_THROW(sim::kSimgridEngine.runs({schedule, platform, wiring}, runs, reading),
               InternalError);
}

// What slack with a frozen order cannot see: who shares a link with whom, and for how long.
TEST(ValidateOnSimgrid, MeasuresWhatSharingDoesToThePrediction) {
  struct Case {
    const char* platform;
    bool contended;
  };
  for (const Case& c : {Case{"two-level:racks=4,hosts=4,oversubscription=4", true},
                        Case{"two-level:racks=4,hosts=4,oversubscription=1", false},
                        Case{"fat-tree:down=4x4,up=1x2,parallel=1x1,placement=random:3", true}}) {
    const Platform platform = machine::load_platform(c.platform);
    const Schedule schedule =
        compile(sched::parse_spec("binomial-pipeline:ranks=16,bytes=1MiB,block=256KiB"));
    const machine::Wiring wiring(platform, schedule.rank_count());
    const sched::Trace base = sim::run_simgrid({schedule, platform});
    const analysis::TimedSlack slack = analysis::timed_slack({schedule, platform, {}}, base);
    machine::PlanRuns runs;
    runs.jobs = 2;
    const Validation found = analysis::run_trials({schedule, platform, wiring, {}}, base,
                                                  trials_of(schedule, platform, Time{10'000'000}),
                                                  sim::kSimgridEngine, runs);
    const std::vector<double> errors_s = analysis::errors_of(found, slack.total_float_s);
    int off = 0;
    for (std::size_t i = 0; i < errors_s.size(); ++i) {
      const bool wrong = std::abs(errors_s[i]) > analysis::exact_within_s(found.makespan_s);
      off += wrong ? 1 : 0;
      // Where it is off, the reason is one of the two.
      if (wrong) {
        EXPECT_TRUE(found.trials[i].shared || !found.trials[i].order_kept)
            << c.platform << ", op " << i;
      }
    }
    EXPECT_EQ(off > 0, c.contended) << c.platform;
  }
}

}  // namespace
}  // namespace slackline
