// What slack predicts against runs that were really delayed, one operation at a time: exact on
// every star wherever the delay leaves the order on lanes and ports as it was.
#include "analysis/slack/validate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/plan_runs.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"

namespace slackline {
namespace {

using analysis::OpChoice;
using analysis::TrialResult;
using analysis::Validation;
using machine::NicDiscipline;
using machine::OpDelay;
using machine::Platform;
using sched::OpId;
using sched::Schedule;
using sched::Time;
using testing::Dice;

// Ends three microseconds late, always.
sched::Trace run_late(const machine::Setting& setting) {
  sched::Trace trace = analysis::run_analytic(setting);
  for (sched::OpTimes& times : trace.ops) times.done_s += 3e-6;
  return trace;
}

struct Held {
  Validation validation;
  std::vector<double> errors_s;
};

// Every operation of `ops`, delayed by `times` its own float, or by `otherwise` if it has none or
// `times` is 0.
Held hold(const Schedule& schedule, const Platform& platform, const machine::DelayPlan& plan,
          const std::vector<OpId>& ops, double times, Time otherwise, std::uint32_t jobs = 1) {
  const machine::Wiring wiring(platform, schedule.rank_count());
  const sched::Trace base = analysis::run_analytic({schedule, platform, plan});
  const analysis::TimedSlack slack = analysis::timed_slack({schedule, platform, plan}, base);
  const std::vector<double>& float_s = slack.total_float_s;
  std::vector<machine::OpDelay> trials;
  for (const OpId op : ops) {
    const double by_s = times * float_s[op.value];
    const Time by = by_s > 1e-12 ? Time{std::llround(by_s * 1e12)} : otherwise;
    trials.push_back({op, by, analysis::delays_lane({schedule, platform}, op)});
  }
  machine::PlanRuns runs;
  runs.jobs = jobs;
  Held held{analysis::run_trials({schedule, platform, wiring, plan}, base, trials,
                                 analysis::kAnalyticEngine, runs),
            {}};
  held.errors_s =
      analysis::errors_of(held.validation, analysis::trial_floats_s({schedule, platform}, slack));
  return held;
}

std::vector<OpId> all_ops(const Schedule& schedule) {
  std::vector<OpId> ops;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) ops.emplace_back(i);
  return ops;
}

struct Count {
  int trials = 0;
  int kept = 0;
  int wrong = 0;
};

void expect_exact_where_kept(const Schedule& schedule, const Held& held, const std::string& what,
                             Count& count) {
  const double near_s = analysis::exact_within_s(held.validation.makespan_s);
  for (std::size_t i = 0; i < held.errors_s.size(); ++i) {
    const TrialResult& result = held.validation.trials[i];
    ++count.trials;
    if (result.order_kept && !result.shared) {
      ++count.kept;
      ASSERT_LE(std::abs(held.errors_s[i]), near_s)
          << what << ", " << describe(schedule, result.trial.op) << " by "
          << result.trial.by.count() << " ps";
    }
    if (std::abs(held.errors_s[i]) > near_s) ++count.wrong;
  }
}

// RDMC's own case, a preemption: no pattern is predicted otherwise than it comes out.
TEST(Validate, IsExactForAMicrosecondAnywhere) {
  const Platform platform = machine::load_platform("fractus");
  for (const sched::PatternEntry& pattern : sched::plan_patterns()) {
    for (const std::uint32_t ranks : {2u, 3u, 5u, 8u}) {
      const std::string spec =
          fmt::format("{}:ranks={},bytes=3MiB,block=1MiB", pattern.name, ranks);
      const Schedule schedule = compile(sched::parse_spec(spec));
      const Held held = hold(schedule, platform, {}, all_ops(schedule), 0, Time{1'000'000});
      for (std::size_t i = 0; i < held.errors_s.size(); ++i) {
        ASSERT_LE(std::abs(held.errors_s[i]), analysis::exact_within_s(held.validation.makespan_s))
            << spec << ", " << describe(schedule, OpId(static_cast<std::uint32_t>(i)));
      }
    }
  }
}

TEST(Validate, IsExactForEveryOperationWhoseDelayKeepsTheOrder) {
  Count count;
  for (const char* star : {"fractus", "star:rate=100Gbps,latency=600ns", "tcp-wan:nic=serial"}) {
    const Platform platform = machine::load_platform(star);
    for (const sched::PatternEntry& pattern : sched::plan_patterns()) {
      for (const char* more : {"", ",first-block=copy,window=2", ",ready=write,in-flight=2"}) {
        for (const std::uint32_t ranks : {3u, 6u}) {
          const std::string spec =
              fmt::format("{}:ranks={},bytes=350KiB,block=100KiB{}", pattern.name, ranks, more);
          const Schedule schedule = compile(sched::parse_spec(spec));
          for (const double times : {0.0, 0.5, 1.0, 3.0}) {
            const Held held =
                hold(schedule, platform, {}, all_ops(schedule), times, Time{40'000'000});
            expect_exact_where_kept(schedule, held, fmt::format("{} on {}", spec, star), count);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(count.kept, count.trials / 2);
  RecordProperty("kept", count.kept);
  RecordProperty("trials", count.trials);
  RecordProperty("wrong", count.wrong);
}

TEST(Validate, IsExactOnHundredsOfRandomRunsWhereTheOrderIsKept) {
  Count count;
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    Dice dice(seed);
    const sched::PatternEntry& pattern =
        sched::plan_patterns()[seed % sched::plan_patterns().size()];
    const std::string spec = testing::random_spec(dice, pattern.name, 7, 5);
    const Schedule schedule = compile(sched::parse_spec(spec));
    if (schedule.op_count() == 0) continue;
    const Platform platform = testing::random_platform(dice, NicDiscipline::kSerial);
    const machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    const std::vector<double> none(schedule.op_count(), 0);
    const std::vector<OpId> ops = analysis::choose_ops(none, OpChoice::kRandom, 12, seed);
    const Held held = hold(schedule, platform, plan, ops, dice.pick({0.0, 0.7, 2.0}),
                           Time{1 + dice.below(100'000'000)});
    expect_exact_where_kept(schedule, held, fmt::format("seed {}: {}", seed, spec), count);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(count.kept, count.trials / 3);
}

// Fair NICs share where two messages meet, which the trials say.
TEST(Validate, IsExactOnFairNicsWhereNothingIsShared) {
  Count count;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    Dice dice(seed);
    const sched::PatternEntry& pattern =
        sched::plan_patterns()[seed % sched::plan_patterns().size()];
    const std::string spec = testing::random_spec(dice, pattern.name, 6, 4);
    const Schedule schedule = compile(sched::parse_spec(spec));
    if (schedule.op_count() == 0) continue;
    const Platform platform = testing::random_platform(dice, NicDiscipline::kFair);
    const std::vector<double> none(schedule.op_count(), 0);
    const std::vector<OpId> ops = analysis::choose_ops(none, OpChoice::kRandom, 8, seed);
    const Held held = hold(schedule, platform, {}, ops, 2, Time{20'000'000});
    expect_exact_where_kept(schedule, held, fmt::format("seed {}: {}", seed, spec), count);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(count.kept, count.trials / 5);
}

TEST(Validate, DoesNotDependOnHowManyRunAtATime) {
  const Schedule schedule =
      compile(sched::parse_spec("double-tree:ranks=7,bytes=1MiB,block=128KiB"));
  const Platform platform = machine::load_platform("fractus");
  const Held one = hold(schedule, platform, {}, all_ops(schedule), 2, Time{9'000'000}, 1);
  const Held four = hold(schedule, platform, {}, all_ops(schedule), 2, Time{9'000'000}, 4);
  EXPECT_EQ(one.errors_s, four.errors_s);
}

TEST(Validate, TakesAnyEngine) {
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=4,bytes=1MiB,block=256KiB"));
  const Platform platform = machine::load_platform("fractus");
  const sched::Trace base = analysis::run_analytic({schedule, platform});
  std::vector<machine::OpDelay> trials;
  for (const OpId op : all_ops(schedule)) trials.push_back({op, Time{50'000'000}, true});
  const Validation a =
      analysis::run_trials({schedule, platform}, base, trials, analysis::kAnalyticEngine, {});
  // One that always runs three microseconds late is found out.
  const machine::Engine late{.run_plans = analysis::plans_in_threads<run_late>};
  const Validation b = analysis::run_trials({schedule, platform}, base, trials, late, {});
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (std::size_t i = 0; i < b.trials.size(); ++i) {
    EXPECT_NEAR(b.trials[i].shift_s, a.trials[i].shift_s + 3e-6, 1e-15);
  }
}

TEST(Validate, RefusesTheTraceOfAnotherSchedule) {
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=3,bytes=1MiB"));
  const Schedule other = compile(sched::parse_spec("chain:ranks=4,bytes=1MiB"));
  const Platform platform = machine::load_platform("fractus");
  const machine::Wiring wiring(platform, 3);
  const std::vector<machine::OpDelay> trials = {{OpId(0), Time{1}, false}};
  EXPECT_THROW(analysis::run_trials({schedule, platform, wiring, {}},
                                    analysis::run_analytic({other, platform}), trials,
                                    analysis::kAnalyticEngine, {}),
               InputError);
}

TEST(ChooseOps, TakesWhatItSays) {
  std::vector<double> float_s;
  for (std::uint32_t i = 0; i < 60; ++i) float_s.push_back((i * 37) % 60);
  const auto floats = [&](const std::vector<OpId>& ops) {
    std::vector<double> chosen;
    for (const OpId op : ops) chosen.push_back(float_s[op.value]);
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  };
  EXPECT_EQ(floats(analysis::choose_ops(float_s, OpChoice::kLeast, 4, 1)),
            (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(floats(analysis::choose_ops(float_s, OpChoice::kMost, 3, 1)),
            (std::vector<double>{57, 58, 59}));
  const auto mixed = floats(analysis::choose_ops(float_s, OpChoice::kMixed, 7, 1));
  ASSERT_EQ(mixed.size(), 7u);
  EXPECT_EQ(std::vector<double>(mixed.begin(), mixed.begin() + 3), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(mixed[5], 58);
  EXPECT_EQ(mixed[6], 59);
  for (const OpChoice choice :
       {OpChoice::kRandom, OpChoice::kLeast, OpChoice::kMost, OpChoice::kMixed}) {
    for (const std::uint32_t count : {0u, 1u, 2u, 59u, 60u, 1000u}) {
      std::vector<OpId> ops = analysis::choose_ops(float_s, choice, count, 5);
      EXPECT_EQ(ops.size(), std::min(count, 60u));
      EXPECT_TRUE(std::is_sorted(ops.begin(), ops.end()));
      EXPECT_EQ(std::adjacent_find(ops.begin(), ops.end()), ops.end());
      EXPECT_EQ(ops, analysis::choose_ops(float_s, choice, count, 5));
    }
    EXPECT_TRUE(analysis::choose_ops({}, choice, 5, 0).empty());
  }
  EXPECT_NE(analysis::choose_ops(float_s, OpChoice::kRandom, 10, 1),
            analysis::choose_ops(float_s, OpChoice::kRandom, 10, 2));
}

TEST(ErrorSpread, CountsAndQuantiles) {
  Validation validation;
  validation.makespan_s = 1;
  std::vector<double> errors_s;
  for (int i = 1; i <= 200; ++i) {
    TrialResult result;
    result.trial = {OpId(0), Time{2'000'000'000'000}, false};
    result.order_kept = i % 2 == 0;
    validation.trials.push_back(result);
    errors_s.push_back(i % 2 == 0 ? i : -i);
  }
  const analysis::ErrorSpread all = analysis::spread_of(validation, errors_s);
  EXPECT_EQ(all.trials, 200u);
  EXPECT_EQ(all.median_s, 100);
  EXPECT_EQ(all.p90_s, 180);
  EXPECT_EQ(all.p99_s, 198);
  EXPECT_EQ(all.max_s, 200);
  EXPECT_EQ(all.max_rel, 100);
  EXPECT_EQ(all.above, 100u);
  EXPECT_EQ(all.below, 100u);
  const analysis::ErrorSpread kept = analysis::spread_of(
      validation, errors_s, [](const TrialResult& result) { return result.order_kept; });
  EXPECT_EQ(kept.trials, 100u);
  EXPECT_EQ(kept.below, 0u);
  EXPECT_EQ(kept.median_s, 100);
  EXPECT_EQ(analysis::spread_of({}, {}).max_s, 0);
}

}  // namespace
}  // namespace slackline
