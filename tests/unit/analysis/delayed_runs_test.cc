// Delayed runs that begin at snapshots and end early, against runs from beginning to end.
#include "analysis/engines/delayed_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/slack/propagation.h"
#include "analysis/slack/validate.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"
#include "tests/support/error_of.h"
#include "tests/support/random_dynamic.h"
#include "tests/support/sanitized.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::DelayPlan;
using machine::NicDiscipline;
using machine::Platform;
using machine::Wiring;
using sched::OpId;
using sched::Schedule;
using sched::Time;
using slackline::testing::Dice;
using slackline::testing::error_of;
using ::testing::HasSubstr;

struct Sample {
  Schedule schedule;
  Platform platform;
  DelayPlan plan;
  machine::IssueOrder order;
  std::vector<machine::OpDelay> trials;
  std::string what;
};

Schedule random_schedule(Dice& dice, std::uint32_t seed) {
  if (seed % 8 == 0) {
    return testing::RandomDynamic(dice, 1 + dice.below(4), 1 + dice.below(6), true).build();
  }
  if (seed % 3 == 0) return testing::RandomSchedule(dice, 8, 60).build();
  const auto patterns = sched::plan_patterns();
  const sched::PatternEntry& pattern = patterns[seed % patterns.size()];
  return compile(sched::parse_spec(testing::random_spec(dice, pattern.name, 12, 8)));
}

// A rate that changes, and a link that fails when all is over or before.
void change_network(Dice& dice, const Wiring& wiring, DelayPlan& plan) {
  const auto links = wiring.links();
  if (links.empty()) return;
  const auto link = [&] {
    return links[dice.below(static_cast<std::uint32_t>(links.size()))].name;
  };
  if (dice.one_in(4)) {
    plan.link_rates.push_back({link(), {3'000'000'000}, Time{1'000'000ll * dice.below(2'000)}});
  }
  if (dice.one_in(8)) {
    plan.failures.push_back(
        {link(), sched::RankId::none(), Time{1'000'000ll * dice.below(20'000)}});
  }
}

Sample random_sample(std::uint32_t seed) {
  Dice dice(seed);
  Sample s{random_schedule(dice, seed), {}, {}, {}, {}, ""};
  s.platform = testing::random_platform(
      dice, dice.one_in(2) ? NicDiscipline::kFair : NicDiscipline::kSerial);
  s.platform.topology = testing::random_topology(dice);
  testing::vary_routing(s.platform.topology, seed);
  if (dice.one_in(4)) testing::random_node(dice, s.platform);
  // Completions cost a third something. Nothing is drawn for it.
  if (s.platform.gap.count() == 900'000 && !s.schedule.has_bundles()) {
    s.platform.o_poll = Time{300'000};
    s.platform.poll_batch = 2;
    if (seed % 2 == 0) {
      s.platform.poll_for = Time{2'000'000};
      s.platform.interrupt_cost = Time{1'500'000};
    }
  }
  if (dice.one_in(2)) s.plan = testing::random_delays(dice, s.schedule);
  s.plan.seed = seed;
  change_network(dice, Wiring(s.platform, s.schedule.rank_count()), s.plan);
  if (dice.one_in(3)) s.order.policy = machine::IssuePolicy::kReady;
  // What is in no pattern's order may deadlock with a bound.
  const bool pattern = seed % 8 != 0 && seed % 3 != 0;
  if (pattern) s.order.sends_in_flight = dice.pick<std::uint32_t>({0, 0, 1, 2});
  for (int i = 0; i < 12 && s.schedule.op_count() != 0; ++i) {
    const OpId op(dice.below(s.schedule.op_count()));
    const Time by{dice.pick<std::int64_t>({64, 1'000, 300'000, 7'654'321, 123'456'789'012})};
    s.trials.push_back(trial_of({s.schedule, s.platform}, op, by));
    if (dice.one_in(4)) s.trials.back().whole_lane = !s.trials.back().whole_lane;
  }
  s.what = "seed " + std::to_string(seed) + " on " + s.platform.spec() + "\n" + s.plan.text();
  return s;
}

// All that a trace has but causes: the times of every operation, what was asked and fetched, and
// the sum of the memory's bytes.
machine::TraceReading whole_reading(const Schedule& schedule) {
  const std::size_t ops = schedule.op_count();
  const auto read = [ops](const sched::Trace& trace, std::span<double> kept) {
    for (std::size_t i = 0; i < ops; ++i) {
      const sched::OpTimes& times = trace.ops[i];
      double* row = &kept[7 * i];
      *row++ = times.ready_s;
      *row++ = times.issued_s;
      *row++ = times.wire_s;
      *row++ = times.done_s;
      *row++ = times.attempts;
      *row++ = trace.request_s.empty() ? 0 : trace.request_s[i];
      *row++ = trace.results.empty() ? 0 : static_cast<double>(trace.results[i]);
    }
    double& sum = kept[7 * ops];
    for (const std::byte byte : trace.memory) sum = 3 * sum / 2 + std::to_integer<unsigned>(byte);
  };
  return {static_cast<std::uint32_t>(7 * ops + 1), read};
}

// Whatever is read of the runs, the engine's own shortcut gives what whole runs do.
void expect_whole_traces(const Sample& s, const Wiring& wiring) {
  const machine::Setting setting(s.schedule, s.platform, wiring, s.plan, s.order);
  const machine::TraceReading reading = whole_reading(s.schedule);
  machine::Engine whole = kFlowEngine;
  whole.run_delayed = nullptr;
  machine::PlanRuns runs;
  runs.jobs = 2;
  const auto expected = whole.delayed_runs(setting, s.trials, runs, reading);
  const auto found = kFlowEngine.delayed_runs(setting, s.trials, runs, reading);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i], expected[i])
        << "trial " << i / reading.width << ", number " << i % reading.width << " of " << s.what;
  }
}

TEST(DelayedRuns, AreWholeRunsWhereverTheyBeginAndEnd) {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < testing::cases(300u); ++seed) {
    const Sample s = random_sample(seed);
    const Wiring wiring(s.platform, s.schedule.rank_count());
    const double makespan_s =
        run_flows({s.schedule, s.platform, wiring, s.plan, s.order}).makespan_s();
    if (!std::isfinite(makespan_s)) continue;
    std::vector<double> whole_s;
    for (const machine::OpDelay& trial : s.trials) {
      DelayPlan plan = s.plan;
      plan.ops.push_back({trial.op, trial.by, trial.whole_lane, sched::RankId::none()});
      whole_s.push_back(run_flows({s.schedule, s.platform, wiring, plan, s.order}).makespan_s());
    }
    const auto by = [&](Shortcut shortcut, std::uint32_t jobs) {
      // Some schedules keep a mebibyte for each rank.
      const DelayedRuns runs({s.schedule, s.platform, wiring, s.plan, s.order}, shortcut, 24 << 20);
      EXPECT_EQ(runs.undelayed().makespan_s(), makespan_s);
      return runs.makespans_s(s.trials, jobs);
    };
    ASSERT_EQ(by(Shortcut::kNone, 1), whole_s) << s.what;
    ASSERT_EQ(by(Shortcut::kBegin, 1), whole_s) << s.what;
    ASSERT_EQ(by(Shortcut::kBeginAndEnd, 1), whole_s) << s.what;
    ASSERT_EQ(by(Shortcut::kBeginAndEnd, 2), whole_s) << s.what;
    if (seed % 5 == 4) expect_whole_traces(s, wiring);
    compared += static_cast<int>(whole_s.size());
  }
  EXPECT_GT(compared, testing::cases(2'500));
}

// What takes longer than the others to be the undelayed run again: pipelines in a steady state.
TEST(DelayedRuns, OfLongPipelinesAreWholeRuns) {
  for (const char* nic : {"serial", "fair"}) {
    for (const char* spec : {"binomial-pipeline:ranks=8,bytes=4MiB,block=64KiB",
                             "double-tree:ranks=7,bytes=4MiB,block=64KiB,start=all"}) {
      const Schedule schedule = compile(sched::parse_spec(spec));
      const Platform platform = machine::load_platform(
          std::string("two-level:racks=2,hosts=4,oversubscription=4,placement=round-robin,"
                      "o_post=100ns,o_complete=70ns,gap=30ns,nic=") +
          nic);
      const Wiring wiring(platform, schedule.rank_count());
      std::vector<machine::OpDelay> trials;
      for (std::uint32_t op = 0; op < schedule.op_count(); op += testing::kSanitized ? 70 : 7) {
        trials.push_back(trial_of({schedule, platform}, OpId(op), Time{2'500'000}));
      }
      const std::vector<double> whole_s =
          DelayedRuns({schedule, platform, wiring, {}, {}}, Shortcut::kNone).makespans_s(trials, 2);
      EXPECT_EQ(DelayedRuns({schedule, platform, wiring, {}, {}}, Shortcut::kBegin)
                    .makespans_s(trials, 2),
                whole_s);
      EXPECT_EQ(DelayedRuns({schedule, platform, wiring, {}}).makespans_s(trials, 2), whole_s);
    }
  }
}

// At 5 us, where the second calculation begins, nothing is pending but its end, whether the message
// arrives at 10 us or at 11 us.
TEST(DelayedRuns, AreNotTheUndelayedOneBeforeALateMessageIsThere) {
  testing::Program program(2);
  const sched::ChannelId channel = program.channel(0, 1);
  const OpId send = program.send(channel, 0);
  const OpId first = program.calc(1, testing::us(5));
  const OpId second = program.calc(1, testing::us(5.5));
  const OpId recv = program.recv(channel, 0);
  program.after({first}, second);
  program.after({second}, recv);
  const Schedule schedule = program.build();
  const Platform platform = machine::load_platform("star:latency=10us");
  const Wiring wiring(platform, 2);
  const DelayedRuns runs({schedule, platform, wiring, {}});
  EXPECT_NEAR(runs.undelayed().makespan_s(), 20.5e-6, 1e-15);
  const std::vector<machine::OpDelay> trials{trial_of({schedule, platform}, send, testing::us(1))};
  EXPECT_NEAR(runs.makespans_s(trials, 1).front(), 21e-6, 1e-15);
}

// Two calculations of rank 1, an instant of which a run can be held against the undelayed one.
void add_instant_at_5_us(testing::Program& program) {
  const OpId first = program.calc(1, testing::us(5), 1);
  const OpId second = program.calc(1, testing::us(90), 1);
  program.after({first}, second);
}

// At 5 us two messages wait for the one on the way: which of them is ahead shows nowhere else.
TEST(DelayedRuns, AreNotTheUndelayedOneWhileMessagesWaitInAnotherOrder) {
  for (const char* figures : {"interleave=0", "interleave=1MiB"}) {
    testing::Program program(2);
    const sched::ChannelId before = program.channel(0, 1);
    const sched::ChannelId early = program.channel(0, 1);
    const sched::ChannelId late = program.channel(0, 1);
    constexpr std::uint64_t kBytes = 100'000;  // 8 us
    program.send(before, kBytes);
    const OpId at_1_us = program.delay(0, testing::us(1));
    const OpId at_2_us = program.delay(0, testing::us(2));
    const OpId first = program.send(early, kBytes);
    const OpId second = program.send(late, kBytes);
    program.after({at_1_us}, first);
    program.after({at_2_us}, second);
    program.recv(before, kBytes);
    const OpId landed = program.recv(early, kBytes);
    program.recv(late, kBytes);
    const OpId long_work = program.calc(1, testing::us(100));
    program.after({landed}, long_work);
    add_instant_at_5_us(program);
    const Schedule schedule = program.build();
    const Platform platform =
        machine::load_platform(std::string("star:rate=100Gbps,latency=0,") + figures);
    const Wiring wiring(platform, 2);
    const DelayedRuns runs({schedule, platform, wiring, {}});
    EXPECT_NEAR(runs.undelayed().makespan_s(), 116e-6, 1e-15);
    const std::vector<machine::OpDelay> trials{
        trial_of({schedule, platform}, first, testing::us(2))};
    EXPECT_NEAR(runs.makespans_s(trials, 1).front(), 124e-6, 1e-15) << figures;
  }
}

// The same of atomics that wait for their word.
TEST(DelayedRuns, AreNotTheUndelayedOneWhileAtomicsWaitInAnotherOrder) {
  testing::Program program(2);
  const sched::ChannelId before = program.channel(0, 1);
  const sched::ChannelId early = program.channel(0, 1);
  const sched::ChannelId late = program.channel(0, 1);
  program.fetch_add(before, 0);
  const OpId at_1_us = program.delay(0, testing::us(1));
  const OpId at_2_us = program.delay(0, testing::us(2));
  const OpId first = program.fetch_add(early, 0);
  const OpId second = program.fetch_add(late, 0);
  const OpId long_work = program.calc(0, testing::us(100));
  program.after({at_1_us}, first);
  program.after({at_2_us}, second);
  program.after({first}, long_work);
  add_instant_at_5_us(program);
  const Schedule schedule = program.build();
  const Platform platform = machine::load_platform("star:latency=0,atomic_service=8us");
  const Wiring wiring(platform, 2);
  const DelayedRuns runs({schedule, platform, wiring, {}});
  const std::vector<machine::OpDelay> trials{trial_of({schedule, platform}, first, testing::us(2))};
  // Answers take less than a nanosecond.
  EXPECT_NEAR(runs.undelayed().makespan_s(), 116e-6, 1e-9);
  EXPECT_NEAR(runs.makespans_s(trials, 1).front(), 124e-6, 1e-9);
}

// At 5 us two operations wait for a lane that is held until 10 us.
TEST(DelayedRuns, AreNotTheUndelayedOneWhileOperationsWaitInAnotherOrder) {
  testing::Program program(2);
  program.calc(0, testing::us(10));
  const OpId at_1_us = program.delay(0, testing::us(1));
  const OpId at_2_us = program.delay(0, testing::us(2));
  const OpId first = program.calc(0, testing::us(8));
  const OpId second = program.calc(0, testing::us(8));
  const OpId long_work = program.calc(0, testing::us(100), 1);
  program.after({at_1_us}, first);
  program.after({at_2_us}, second);
  program.after({first}, long_work);
  add_instant_at_5_us(program);
  const Schedule schedule = program.build();
  const Platform platform = machine::load_platform("star");
  const Wiring wiring(platform, 2);
  const DelayedRuns runs({schedule, platform, wiring, {}, machine::IssuePolicy::kReady});
  EXPECT_NEAR(runs.undelayed().makespan_s(), 118e-6, 1e-15);
  const std::vector<machine::OpDelay> trials{{at_1_us, testing::us(2), false}};
  EXPECT_NEAR(runs.makespans_s(trials, 1).front(), 126e-6, 1e-15);
}

// At 5 us nothing tells but the send itself whether it was acknowledged, or never will be: the way
// back is cut at 3 us, and the receive is posted at 1 us, or at 4 us.
TEST(DelayedRuns, AreNotTheUndelayedOneOnceAnAcknowledgementIsLost) {
  testing::Program program(2);
  const sched::ChannelId channel = program.channel(0, 1);
  program.send(channel, 0);
  const OpId work = program.calc(1, testing::us(1));
  const OpId recv = program.recv(channel, 0);
  program.after({work}, recv);
  add_instant_at_5_us(program);
  const Schedule schedule = program.build();
  const Platform platform = machine::load_platform("star:latency=500ns");
  const Wiring wiring(platform, 2);
  DelayPlan plan;
  plan.failures.push_back({"host-1.out", sched::RankId::none(), testing::us(3)});
  const DelayedRuns runs({schedule, platform, wiring, plan});
  EXPECT_NEAR(runs.undelayed().makespan_s(), 95e-6, 1e-15);
  const std::vector<machine::OpDelay> trials{trial_of({schedule, platform}, work, testing::us(3)),
                                             trial_of({schedule, platform}, work, testing::us(1))};
  const std::vector<double> makespans_s = runs.makespans_s(trials, 1);
  EXPECT_TRUE(std::isinf(makespans_s[0])) << makespans_s[0];
  EXPECT_NEAR(makespans_s[1], 95e-6, 1e-15);
}

TEST(DelayedRuns, CostWhatAFrozenRunForetellsWhereNothingIsSharedAndTheOrderIsKept) {
  const Schedule schedule =
      compile(sched::parse_spec("chain:ranks=4,bytes=400KB,block=100KB,ready=none"));
  const Platform platform = machine::load_platform("star:rate=80Gbps,latency=1us");
  const Wiring wiring(platform, schedule.rank_count());
  const sched::Trace trace = run_analytic({schedule, platform, wiring});
  const Propagation propagation({schedule, platform, wiring, {}}, trace, WireTimes::kModel);
  const DelayedRuns runs({schedule, platform, wiring, {}});
  EXPECT_NEAR(runs.undelayed().makespan_s(), trace.makespan_s(), 1e-15);
  for (const Time by : {Time{1'000'000}, Time{33'333'333}}) {
    const std::vector<double> delayed_s =
        runs.makespans_s(trials_of_all({schedule, platform}, by), 2);
    for (std::uint32_t op = 0; op < schedule.op_count(); ++op) {
      const DelayEffect effect = propagation.effect({OpId(op), by, false, sched::RankId::none()});
      EXPECT_NEAR(delayed_s[op] - trace.makespan_s(), effect.makespan_s, 1e-14) << "op " << op;
    }
  }
}

TEST(DelayedRuns, RefuseWhatCannotBe) {
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=3,bytes=300KB,block=100KB"));
  const Platform platform = machine::load_platform("star:rate=80Gbps");
  const Wiring wiring(platform, schedule.rank_count());
  const DelayedRuns runs({schedule, platform, wiring, {}});
  const machine::OpDelay beyond{OpId(schedule.op_count()), Time{1'000}, false};
  EXPECT_THAT(error_of([&] { runs.makespans_s({&beyond, 1}, 1); }), HasSubstr("does not exist"));
  DelayPlan failing;
  failing.failures.push_back({"", sched::RankId(1), Time{1'000}});
  EXPECT_THAT(error_of([&] {
                DelayedRuns({schedule, platform, wiring, failing});
              }),
              HasSubstr("never ends"));
}

TEST(DelayedRuns, OfNothingAreNone) {
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=1,bytes=1MiB"));
  const Platform platform = machine::load_platform("star");
  const Wiring wiring(platform, schedule.rank_count());
  const DelayedRuns runs({schedule, platform, wiring, {}});
  EXPECT_EQ(runs.undelayed().makespan_s(), 0);
  EXPECT_EQ(runs.makespans_s({}, 2), std::vector<double>{});
}

}  // namespace
}  // namespace slackline::analysis
