#include "analysis/slack/measured_trials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/observed_slack.h"
#include "base/error.h"
#include "sched/compile.h"

namespace slackline::analysis {
namespace {

using sched::OpId;

machine::Platform star() {
  return machine::parse_platform_spec("star:rate=8Gbps,latency=2us,interleave=0");
}

class Trials : public ::testing::Test {
 protected:
  Trials()
      : schedule_(
            compile(sched::parse_spec("double-tree:ranks=8,bytes=16000,block=1000,ready=none"))) {
    const ObservedSlack slack = observed_slack(schedule_, run_events({schedule_, star()}), 0);
    float_s_ = slack.total_float_s;
    for (std::uint32_t i = 0; i < schedule_.op_count(); i += 7) {
      trials_.push_back({OpId(i), sched::Time{5'000'000}, false});
    }
  }

  // The event engine, whose runs are later by what `late` says each time.
  MeasuredRun machine(std::function<double()> late) {
    return [this, late = std::move(late)](const machine::DelayPlan& plan) {
      ++runs_;
      sched::Trace trace = run_events({schedule_, star(), plan});
      const double late_s = late();
      for (sched::OpTimes& op : trace.ops) op.done_s += late_s;
      return trace;
    };
  }

  sched::Schedule schedule_;
  std::vector<double> float_s_;
  std::vector<machine::OpDelay> trials_;
  std::uint32_t runs_ = 0;
};

TEST_F(Trials, WithoutNoiseAreWhatTheModelPredicts) {
  std::uint32_t told = 0;
  const MeasuredTrials found = run_measured_trials(
      schedule_, {}, trials_, 2, machine([] { return 0.0; }), [&](std::uint32_t pairs) {
        EXPECT_EQ(pairs, told + 1);
        told = pairs;
      });
  EXPECT_EQ(runs_, 4 * trials_.size());
  EXPECT_EQ(told, 2 * trials_.size());
  EXPECT_EQ(found.noise_s, 0);
  EXPECT_EQ(found.undelayed_s.size(), 2 * trials_.size());
  EXPECT_EQ(found.validation.makespan_s, run_events({schedule_, star()}).makespan_s());
  std::size_t exact = 0;
  for (const TrialResult& result : found.validation.trials) {
    const double predicted_s = predicted_shift_s(result, float_s_[result.trial.op.value]);
    if (std::abs(result.shift_s - predicted_s) < 1e-12) ++exact;
  }
  // Some delays let others overtake.
  EXPECT_GT(exact, trials_.size() * 3 / 4);
}

TEST_F(Trials, MediansBearSomeThatAreFarOff) {
  // An eighth of the runs is a millisecond late, and the machine becomes slower all the time.
  std::mt19937 draw(3);
  double drift_s = 0;
  const MeasuredTrials found = run_measured_trials(schedule_, {}, trials_, 15, machine([&] {
                                                     drift_s += 1e-10;
                                                     return drift_s + (draw() % 8 == 0 ? 1e-3 : 0);
                                                   }));
  EXPECT_LT(found.noise_s, 1e-6);
  EXPECT_GT(found.noise_s, 0);
  const MeasuredTrials quiet =
      run_measured_trials(schedule_, {}, trials_, 1, machine([] { return 0.0; }));
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    EXPECT_NEAR(found.validation.trials[i].shift_s, quiet.validation.trials[i].shift_s, 5e-9) << i;
  }
}

TEST_F(Trials, NoiseIsWhatATrialWithoutDelayComesTo) {
  std::mt19937 draw(4);
  const auto noisy = [&] { return 1e-9 * static_cast<double>(draw() % 1000); };
  for (machine::OpDelay& trial : trials_) trial.by = sched::Time{0};
  const MeasuredTrials found = run_measured_trials(schedule_, {}, trials_, 3, machine(noisy));
  std::size_t within = 0;
  for (const TrialResult& result : found.validation.trials) {
    if (std::abs(result.shift_s) <= found.noise_s) ++within;
  }
  EXPECT_GE(within, trials_.size() * 3 / 4);
  EXPECT_LT(within, trials_.size());
}

TEST_F(Trials, SayWhetherTheOrderChanged) {
  // A receive that is posted at the start, before others of its rank.
  const OpId first = schedule_.first_op(sched::RankId(3));
  ASSERT_EQ(schedule_.op(first).kind, sched::OpKind::kRecv);
  trials_ = {{first, sched::Time{0}, false}, {first, sched::Time{1'000'000'000}, false}};
  const MeasuredTrials found =
      run_measured_trials(schedule_, {}, trials_, 1, machine([] { return 0.0; }));
  EXPECT_TRUE(found.validation.trials[0].order_kept);
  EXPECT_FALSE(found.validation.trials[1].order_kept);
}

TEST_F(Trials, RefuseRunsThatNeverEnd) {
  EXPECT_THROW(run_measured_trials(schedule_, {}, trials_, 1,
                                   machine([] { return std::numeric_limits<double>::infinity(); })),
               InputError);
}

}  // namespace
}  // namespace slackline::analysis
