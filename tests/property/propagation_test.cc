// What a delay does, against brute force: the whole run computed again with it, by a system that
// shares nothing with ours, and the engine where the delay leaves the order as it was.
#include "analysis/slack/propagation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/timed_slack.h"
#include "tests/property/frozen_run.h"
#include "tests/property/random_samples.h"

namespace slackline {
namespace {

using analysis::DelayEffect;
using analysis::Propagation;
using analysis::WireTimes;
using machine::DelayPlan;
using machine::OpDelay;
using sched::OpId;
using sched::Trace;
using testing::Dice;
using testing::FrozenRun;
using testing::Sample;

struct Base {
  explicit Base(const Sample& of)
      : sample(of),
        trace(analysis::run_events({of.schedule, of.platform, of.plan})),
        wiring(of.platform, of.schedule.rank_count()),
        propagation({of.schedule, of.platform, wiring, of.plan}, trace, WireTimes::kModel),
        base_s(frozen(of.plan)) {}

  // The run computed again under another plan.
  FrozenRun::Times frozen(const DelayPlan& plan) const {
    return FrozenRun(sample.schedule, sample.platform, plan, trace).solve();
  }
  DelayPlan plan_with(const OpDelay& delay) const {
    DelayPlan plan = sample.plan;
    plan.ops.push_back(delay);
    return plan;
  }

  const Sample& sample;
  Trace trace;
  machine::Wiring wiring;
  Propagation propagation;
  FrozenRun::Times base_s;
};

std::vector<double> finish_s(const Sample& sample, const FrozenRun::Times& time_s) {
  std::vector<double> result(sample.schedule.rank_count(), 0);
  for (std::uint32_t i = 0; i < sample.schedule.op_count(); ++i) {
    double& end_s = result[sample.schedule.ops()[i].rank.value];
    end_s = std::max(end_s, time_s[FrozenRun::node(i, FrozenRun::kDone)]);
  }
  return result;
}

OpDelay random_delay(Dice& dice, const Sample& sample) {
  const OpId op(dice.below(sample.schedule.op_count()));
  const sched::Time by{dice.below(dice.pick<std::uint32_t>({1, 1'000'000, 40'000'000}))};
  return {op, by, dice.one_in(2), sched::RankId::none()};
}

void expect_effect(const Base& run, const OpDelay& delay, Propagation::Scratch& scratch) {
  const Sample& sample = run.sample;
  const DelayEffect effect = run.propagation.effect(delay, scratch);
  const FrozenRun::Times time_s = run.frozen(run.plan_with(delay));
  const double near_s = 2 * testing::rounding_s(run.trace);
  const std::string what = sample.what + ", op " + std::to_string(delay.op.value) + " by " +
                           std::to_string(delay.by.count()) + (delay.whole_lane ? " of lane" : "");
  ASSERT_NEAR(effect.makespan_s, FrozenRun::makespan_s(time_s) - FrozenRun::makespan_s(run.base_s),
              near_s)
      << what;
  const auto before_s = finish_s(sample, run.base_s);
  const auto after_s = finish_s(sample, time_s);
  for (std::uint32_t r = 0; r < sample.schedule.rank_count(); ++r) {
    ASSERT_NEAR(run.propagation.rank_finish_s()[r], before_s[r], near_s) << what;
    ASSERT_NEAR(effect.rank_finish_s[r], after_s[r] - before_s[r], near_s)
        << what << ", rank " << r;
  }
  double largest_s = 0;
  std::uint32_t moved = 0;
  const std::vector<double> done_later_s = run.propagation.done_later_s(delay);
  for (std::uint32_t i = 0; i < sample.schedule.op_count(); ++i) {
    const std::uint32_t issued = FrozenRun::node(i, FrozenRun::kIssued);
    const std::uint32_t done = FrozenRun::node(i, FrozenRun::kDone);
    const double later_s =
        std::max(time_s[issued] - run.base_s[issued], time_s[done] - run.base_s[done]);
    largest_s = std::max(largest_s, later_s);
    if (later_s > near_s) ++moved;
    ASSERT_NEAR(done_later_s[i], time_s[done] - run.base_s[done], near_s) << what << ", op " << i;
  }
  ASSERT_LE(moved, effect.ops_moved) << what;
  ASSERT_LE(effect.ops_moved, sample.schedule.op_count()) << what;
  ASSERT_NEAR(effect.largest_s, largest_s, near_s) << what;
}

TEST(Propagation, IsTheWholeRunComputedAgain) {
  int delays = 0;
  for (std::uint32_t seed = 0; seed < 700 && !HasFatalFailure(); ++seed) {
    const Sample sample =
        seed % 2 == 0 ? testing::random_program(seed) : testing::random_pattern(seed);
    if (sample.schedule.op_count() == 0) continue;
    const Base run(sample);
    Propagation::Scratch scratch;
    Dice dice(seed);
    for (int trial = 0; trial < 12 && !HasFatalFailure(); ++trial) {
      const OpDelay delay = random_delay(dice, sample);
      // With posts that take no time, who is behind whom on a lane is not the oracle's to say.
      if (delay.whole_lane && sample.platform.o_post.count() == 0) continue;
      expect_effect(run, delay, scratch);
      ++delays;
    }
  }
  EXPECT_GT(delays, 4'000);
}

TEST(Propagation, IsTheRunThatWasReallyDelayedWhereTheOrderStays) {
  int kept = 0;
  int tried = 0;
  for (std::uint32_t seed = 0; seed < 700 && !HasFatalFailure(); ++seed) {
    const Sample sample =
        seed % 2 == 0 ? testing::random_program(seed) : testing::random_pattern(seed);
    if (sample.schedule.op_count() == 0) continue;
    const Base run(sample);
    Dice dice(seed + 1);
    for (int trial = 0; trial < 8; ++trial) {
      const OpDelay delay = random_delay(dice, sample);
      if (delay.whole_lane && sample.platform.o_post.count() == 0) continue;
      const Trace really =
          analysis::run_events({sample.schedule, sample.platform, run.plan_with(delay)});
      const FrozenRun::Times time_s = run.frozen(run.plan_with(delay));
      const double near_s = 2 * testing::rounding_s(really);
      ++tried;
      bool same = true;
      for (std::uint32_t i = 0; i < sample.schedule.op_count() && same; ++i) {
        same =
            std::abs(time_s[FrozenRun::node(i, FrozenRun::kDone)] - really.ops[i].done_s) <= near_s;
      }
      if (!same) continue;
      ++kept;
      const DelayEffect effect = run.propagation.effect(delay);
      ASSERT_NEAR(effect.makespan_s, really.makespan_s() - run.trace.makespan_s(), near_s)
          << sample.what;
      std::vector<double> rank_s(sample.schedule.rank_count(), 0);
      for (std::uint32_t i = 0; i < sample.schedule.op_count(); ++i) {
        double& end_s = rank_s[sample.schedule.ops()[i].rank.value];
        end_s = std::max(end_s, really.ops[i].done_s);
      }
      for (std::uint32_t r = 0; r < rank_s.size(); ++r) {
        ASSERT_NEAR(effect.rank_finish_s[r], rank_s[r] - run.propagation.rank_finish_s()[r], near_s)
            << sample.what << ", rank " << r;
      }
    }
  }
  EXPECT_GT(kept, tried / 2);
}

// Slack and delays say the same of the makespan.
TEST(Propagation, CostsWhatIsBeyondTheFloat) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Sample sample =
        seed % 2 == 0 ? testing::random_program(seed) : testing::random_pattern(seed);
    const Base run(sample);
    const analysis::TimedSlack slack =
        analysis::timed_slack({sample.schedule, sample.platform, sample.plan}, run.trace);
    Propagation::Scratch scratch;
    const double near_s = 2 * testing::rounding_s(run.trace);
    for (std::uint32_t i = 0; i < sample.schedule.op_count(); ++i) {
      const OpDelay delay{OpId(i), sched::Time{3'000'000}, true, sched::RankId::none()};
      const auto kind = sample.schedule.ops()[i].kind;
      if (!sched::is_initiator(kind) && kind != sched::OpKind::kRecv) continue;
      if (sample.platform.o_post.count() == 0) continue;
      ASSERT_NEAR(run.propagation.effect(delay, scratch).makespan_s,
                  std::max(0.0, 3e-6 - slack.total_float_s[i]), near_s)
          << sample.what << ", op " << i;
    }
  }
}

TEST(Propagation, OfNoDelayIsNothing) {
  const Sample sample = testing::random_pattern(3);
  const Base run(sample);
  for (std::uint32_t i = 0; i < sample.schedule.op_count(); ++i) {
    for (const bool whole_lane : {false, true}) {
      const DelayEffect effect =
          run.propagation.effect({OpId(i), sched::Time{0}, whole_lane, sched::RankId::none()});
      EXPECT_LE(effect.makespan_s, testing::rounding_s(run.trace));
      EXPECT_LE(effect.largest_s, testing::rounding_s(run.trace));
    }
  }
}

}  // namespace
}  // namespace slackline
