// How far predictions of delays were off, against the definitions; what a run with a delay is.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/plan_runs.h"
#include "analysis/slack/validate.h"
#include "tests/support/error_of.h"
#include "tests/support/quantile.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using slackline::testing::quantile;
using testing::Program;
using testing::us;

TrialResult result(std::uint32_t op, double by_us, double absorbed_s, double shift_s) {
  TrialResult made;
  made.trial.op = OpId(op);
  made.trial.by = us(by_us);
  made.absorbed_s = absorbed_s;
  made.shift_s = shift_s;
  return made;
}

TEST(ErrorSpread, AShiftIsWhatTheDelayHasAboveTheFloat) {
  EXPECT_DOUBLE_EQ(predicted_shift_s(result(0, 5, 1e-6, 0), 1.5e-6), 2.5e-6);
  EXPECT_EQ(predicted_shift_s(result(0, 5, 4e-6, 0), 1.5e-6), 0);
  Validation validation;
  validation.trials = {result(1, 5, 1e-6, 3e-6), result(0, 2, 0, -1e-6)};
  const std::vector<double> float_s = {7e-6, 1.5e-6};
  const std::vector<double> errors_s = errors_of(validation, float_s);
  ASSERT_EQ(errors_s.size(), 2u);
  EXPECT_DOUBLE_EQ(errors_s[0], 0.5e-6);
  EXPECT_DOUBLE_EQ(errors_s[1], -1e-6);
  EXPECT_DOUBLE_EQ(exact_within_s(2), 2e-9 + 10e-12);
}

TEST(ErrorSpread, HasTheQuantilesOfAbsoluteAndRelativeErrors) {
  std::mt19937 random(5);
  for (std::size_t n = 1; n <= 210; n += n < 12 ? 1 : 11) {
    Validation validation;
    validation.makespan_s = 1;
    std::vector<double> errors_s;
    for (std::size_t i = 0; i < n; ++i) {
      validation.trials.push_back(result(0, static_cast<double>(random() % 4), 0, 0));
      validation.trials.back().shared = random() % 2 == 0;
      errors_s.push_back(1e-9 * (static_cast<double>(random() % 60) / 10 - 3));
    }
    for (const bool shared_alone : {false, true}) {
      std::vector<double> absolute_s;
      std::vector<double> relative;
      std::uint64_t above = 0;
      std::uint64_t below = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (shared_alone && !validation.trials[i].shared) continue;
        const double by_s = sched::seconds(validation.trials[i].trial.by);
        absolute_s.push_back(std::abs(errors_s[i]));
        relative.push_back(by_s == 0 ? 0 : std::abs(errors_s[i]) / by_s);
        above += errors_s[i] > exact_within_s(1) ? 1 : 0;
        below += errors_s[i] < -exact_within_s(1) ? 1 : 0;
      }
      const ErrorSpread found =
          shared_alone
              ? spread_of(validation, errors_s, [](const TrialResult& r) { return r.shared; })
              : spread_of(validation, errors_s);
      EXPECT_EQ(found.trials, absolute_s.size());
      EXPECT_EQ(found.above, above);
      EXPECT_EQ(found.below, below);
      if (absolute_s.empty()) continue;
      EXPECT_EQ(found.median_s, quantile(absolute_s, 50));
      EXPECT_EQ(found.p90_s, quantile(absolute_s, 90));
      EXPECT_EQ(found.p99_s, quantile(absolute_s, 99));
      EXPECT_EQ(found.max_s, quantile(absolute_s, 100));
      EXPECT_EQ(found.median_rel, quantile(relative, 50));
      EXPECT_EQ(found.p90_rel, quantile(relative, 90));
      EXPECT_EQ(found.p99_rel, quantile(relative, 99));
      EXPECT_EQ(found.max_rel, quantile(relative, 100));
    }
  }
  EXPECT_EQ(spread_of({}, {}).trials, 0u);
}

machine::Platform platform(const char* nic = "serial") {
  return machine::parse_platform_spec(
      std::string("star:rate=8Gbps,latency=1us,o_post=1us,o_complete=0,gap=0,interleave=100,nic=") +
      nic);
}

// The event engine, which does not say that messages shared.
sched::Trace run_uncontended(const machine::Setting& setting) {
  sched::Trace trace = run_events(setting);
  trace.contended = false;
  return trace;
}

Validation tried(const sched::Schedule& schedule, const machine::Platform& on,
                 const std::vector<machine::OpDelay>& trials) {
  return run_trials({schedule, on}, run_analytic({schedule, on}), trials, kAnalyticEngine, {});
}

TEST(RunTrials, ByHand) {
  // Two calcs on one lane, 4 us each, the second ready at once; then a delay that has 10 us.
  Program p(1);
  const OpId first = p.calc(0, us(4));
  const OpId second = p.calc(0, us(4));
  const OpId slow = p.delay(0, us(10));
  const sched::Schedule schedule = p.build();
  EXPECT_TRUE(delays_lane({schedule, platform()}, first));
  EXPECT_FALSE(delays_lane({schedule, platform()}, slow));
  const Validation found = tried(schedule, platform(),
                                 {{second, us(1), false},
                                  {second, us(9), false},
                                  {second, us(3), true},
                                  {slow, us(5), false},
                                  {first, us(6), false}});
  EXPECT_NEAR(found.makespan_s, 10e-6, 1e-15);
  ASSERT_EQ(found.trials.size(), 5u);
  // The second waits 4 us for its lane anyway.
  const double absorbed_us[] = {4, 4, 0, 0, 0};
  const double shift_us[] = {0, 3, 1, 5, 0};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(found.trials[i].absorbed_s, absorbed_us[i] * 1e-6, 1e-15) << i;
    EXPECT_NEAR(found.trials[i].shift_s, shift_us[i] * 1e-6, 1e-15) << i;
    EXPECT_FALSE(found.trials[i].shared) << i;
    // The last lets the other go first.
    EXPECT_EQ(found.trials[i].order_kept, i != 4) << i;
  }
  EXPECT_TRUE(tried(schedule, platform(), {}).trials.empty());
}

TEST(RunTrials, ACalculationIsIssuedBeforeADelayOfItsLane) {
  // What waits for the issue of the first is not late with it; what is next on its lane is.
  Program p(1);
  const OpId first = p.calc(0, us(4));
  const OpId other = p.calc(0, us(10), 1);
  const OpId next = p.calc(0, us(3));
  p.after({first}, other, sched::On::kIssued);
  const sched::Schedule schedule = p.build();
  const machine::Platform on = platform();
  const machine::Setting setting(schedule, on);
  const TimedSlack slack = timed_slack(setting, run_analytic(setting));
  const std::vector<double> floats_s = trial_floats_s(setting, slack);
  const double total_us[] = {0, 0, 3};
  const double trial_us[] = {3, 0, 3};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(slack.total_float_s[i], total_us[i] * 1e-6, 1e-15) << i;
    EXPECT_NEAR(floats_s[i], trial_us[i] * 1e-6, 1e-15) << i;
  }
  const Validation found = tried(
      schedule, on,
      {{first, us(2), true}, {first, us(5), true}, {other, us(1), true}, {next, us(4), true}});
  const double shift_us[] = {0, 2, 1, 1};
  const std::vector<double> errors_s = errors_of(found, floats_s);
  ASSERT_EQ(errors_s.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(found.trials[i].is_exact()) << i;
    EXPECT_NEAR(found.trials[i].shift_s, shift_us[i] * 1e-6, 1e-15) << i;
    EXPECT_NEAR(errors_s[i], 0, 1e-15) << i;
  }
}

TEST(RunTrials, AMessageThatMeetsAnotherRateIsNoneOfWhichFloatsTell) {
  // 10 us at first; from 5 us on its link has half the rate, and from 25 us on none.
  Program p(2);
  const auto channel = p.channel(0, 1);
  const OpId send = p.send(channel, 10'000);
  const OpId recv = p.recv(channel, 10'000);
  const sched::Schedule schedule = p.build();
  const machine::Platform on = platform();
  const machine::Wiring wiring(on, 2);
  machine::DelayPlan plan;
  plan.link_rates.push_back({"host-0.out", {4'000'000'000}, us(5)});
  machine::DelayPlan cut = plan;
  cut.failures.push_back({"host-0.out", sched::RankId::none(), us(25)});
  for (const machine::DelayPlan& with : {plan, cut}) {
    const machine::Setting setting(schedule, on, wiring, with);
    const Validation found =
        run_trials(setting, run_analytic(setting),
                   std::vector<machine::OpDelay>{
                       {send, us(1), true}, {recv, us(1), true}, {send, us(30), true}},
                   kAnalyticEngine, {});
    ASSERT_EQ(found.trials.size(), 3u);
    EXPECT_TRUE(found.trials[0].order_kept);
    EXPECT_NEAR(found.trials[0].shift_s, 2e-6, 1e-15);
    EXPECT_FALSE(found.trials[0].is_exact());
    EXPECT_NEAR(found.trials[1].shift_s, 0, 1e-15);
    EXPECT_TRUE(found.trials[1].is_exact());
    EXPECT_EQ(std::isfinite(found.trials[2].shift_s), with.failures.empty());
    EXPECT_FALSE(found.trials[2].is_exact());
  }
}

TEST(RunTrials, FairPortsAreSharedByLargeMessagesThatMeet) {
  // Two messages into rank 0, of 10 us each; the second leaves `later` after the first.
  const auto shared = [](double later_us, std::uint64_t bytes, const char* nic) {
    Program p(3);
    const auto from_1 = p.channel(1, 0);
    const auto from_2 = p.channel(2, 0);
    p.recv(from_1, bytes);
    p.recv(from_2, bytes);
    p.send(from_1, bytes);
    const OpId wait = p.delay(2, us(20));
    const OpId second = p.send(from_2, bytes);
    p.after({wait}, second);
    const sched::Schedule schedule = p.build();
    // The first is delayed, until the second has left.
    const Validation found = tried(schedule, platform(nic), {{OpId(2), us(20 - later_us), false}});
    return found.trials.at(0).shared;
  };
  EXPECT_FALSE(shared(20, 10'000, "fair"));
  EXPECT_FALSE(shared(10.5, 10'000, "fair"));
  EXPECT_TRUE(shared(9.5, 10'000, "fair"));
  EXPECT_TRUE(shared(0, 10'000, "fair"));
  EXPECT_FALSE(shared(0, 10'000, "serial"));
  EXPECT_FALSE(shared(0, 100, "fair"));
}

TEST(RunTrials, AreOfARunOfTheScheduleThatEnds) {
  Program p(1);
  p.calc(0, us(4));
  const sched::Schedule schedule = p.build();
  const machine::Wiring wiring(platform(), 1);
  const auto refusal = [&](const sched::Trace& base) -> std::string {
    return testing::error_of([&] {
      run_trials({schedule, platform(), wiring, {}}, base, {}, {}, {});
    });
  };
  const sched::Trace good = run_analytic({schedule, platform()});
  EXPECT_EQ(refusal(good), "");
  sched::Trace other = good;
  other.schedule.low ^= 1;
  EXPECT_EQ(refusal(other), "the trace is of schedule " + to_string(other.schedule) + ", not of " +
                                to_string(schedule.digest()));
  other = good;
  other.ops.clear();
  EXPECT_NE(refusal(other), "");
  other = good;
  other.ops[0].done_s = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(other), "the run without the delays never ends; expected one that does");
}

// Ranks 0 and 1 are on one node, and 2 and 3 on another: they share its ports, and pass none
// within.
TEST(RunTrials, FairPortsAreTheNodes) {
  const machine::Platform on = machine::parse_platform_spec(
      "star:rate=8Gbps,latency=1us,o_post=1us,o_complete=0,gap=0,interleave=100,copy_rate=8Gbps,"
      "ranks_per_node=2,nic=fair");
  // Whether two messages of 10 us that begin at once share a port, by what an engine did that says
  // nothing of it.
  const auto shared = [&](std::uint32_t a, std::uint32_t to_a, std::uint32_t b,
                          std::uint32_t to_b) {
    Program p(4);
    const auto first = p.channel(a, to_a);
    const auto second = p.channel(b, to_b);
    const OpId wait = p.delay(b, us(30));
    p.put(first, 10'000);
    p.after({wait}, p.put(second, 10'000, sched::Notify::kNone, 1));
    const sched::Schedule schedule = p.build();
    const machine::Wiring wiring(on, 4);
    const machine::Engine source{.run_plans = plans_in_threads<run_uncontended>};
    std::uint32_t put = 0;  // the first
    while (schedule.op(OpId(put)).kind != sched::OpKind::kPut || schedule.op(OpId(put)).lane != 0) {
      ++put;
    }
    const std::vector<machine::OpDelay> trials = {{OpId(put), us(30), false}};
    const sched::Trace base = run_events({schedule, on, wiring});
    return run_trials({schedule, on, wiring, {}}, base, trials, source, {}).trials.at(0).shared;
  };
  EXPECT_TRUE(shared(0, 2, 1, 3));  // out of one node
  EXPECT_TRUE(shared(0, 2, 0, 3));
  EXPECT_FALSE(shared(0, 2, 3, 1));  // there and back
  EXPECT_FALSE(shared(0, 1, 0, 1));  // within a node
  EXPECT_FALSE(shared(0, 1, 1, 2));
}

TEST(Samples, OnlyThoseThatAreAskedForChange) {
  Program p(2);
  const auto channel = p.channel(0, 1);
  p.send(channel, 1000);
  p.recv(channel, 1000);
  const sched::Schedule schedule = p.build();
  const machine::Wiring wiring(platform(), 2);
  machine::DelayPlan plan;
  plan.seed = 90;
  plan.noise.resize(1);
  plan.noise[0].of.kind = machine::Distribution::Kind::kUniform;
  plan.noise[0].of.high = us(50);
  const machine::Samples all = kAnalyticEngine.samples({schedule, platform(), plan}, {6, 2, {}});
  machine::Samples some(6, 2);
  const std::vector<std::uint32_t> which = {4, 1};
  const machine::Platform on = platform();
  machine::run_samples(kAnalyticEngine.source({schedule, on, wiring, plan}), schedule, plan,
                       {6, 1, {}}, which, some);
  for (std::uint32_t i = 0; i < 6; ++i) {
    machine::DelayPlan drawn = plan;
    drawn.seed = 90 + i;
    const sched::Trace trace = run_analytic({schedule, platform(), drawn});
    const std::vector<double> finish_s = machine::rank_finish_s(schedule, trace.ops);
    const bool asked = i == 1 || i == 4;
    EXPECT_EQ(all.makespan_s[i], trace.makespan_s());
    EXPECT_EQ(some.makespan_s[i], asked ? trace.makespan_s() : 0);
    for (std::uint32_t r = 0; r < 2; ++r) {
      EXPECT_EQ(all.finish_s(i)[r], finish_s[r]);
      EXPECT_EQ(some.finish_s(i)[r], asked ? finish_s[r] : 0);
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
