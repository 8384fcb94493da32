// Critical paths, floats and criticality of a few operations, by hand.
#include "analysis/slack/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/slack/criticality.h"
#include "analysis/slack/timed_slack.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using ::testing::ElementsAre;
using testing::Program;
using testing::us;

machine::Platform platform() {
  return machine::parse_platform_spec("star:rate=8Gbps,latency=1us,interleave=0,gap=0");
}

std::vector<OpId> path_of(Program& program) {
  const sched::Schedule schedule = program.build();
  const machine::Wiring wiring(platform(), schedule.rank_count());
  const sched::Trace trace = run_analytic({schedule, platform()});
  return critical_path(frozen_run({schedule, platform(), wiring, {}}, trace));
}

TEST(CriticalPath, IsOfWhatEndsLast) {
  Program p(1);
  const OpId a = p.delay(0, us(5));
  const OpId b = p.delay(0, us(4));
  p.delay(0, us(8));
  p.after({a}, b);
  EXPECT_THAT(path_of(p), ElementsAre(a, b));
}

TEST(CriticalPath, OfSeveralThatBindTheLowestStandsOnIt) {
  Program p(1);
  const OpId a = p.delay(0, us(5));
  const OpId b = p.delay(0, us(5));
  const OpId both = p.delay(0, us(2));
  p.after({b, a}, both);
  EXPECT_THAT(path_of(p), ElementsAre(a, both));
  // The same of several that end last.
  Program ends(2);
  const OpId first = ends.delay(0, us(7));
  ends.delay(0, us(6));
  ends.delay(1, us(7));
  EXPECT_THAT(path_of(ends), ElementsAre(first));
}

TEST(CriticalPath, FollowsMessagesAndReceivesThatWereLate) {
  for (const bool late_receive : {false, true}) {
    Program p(2);
    const OpId before = p.delay(0, us(late_receive ? 1 : 6));
    const auto channel = p.channel(0, 1);
    const OpId send = p.send(channel, 2000);
    p.after({before}, send);
    const OpId wait = p.delay(1, us(late_receive ? 20 : 2));
    const OpId recv = p.recv(channel, 2000);
    const OpId after = p.delay(1, us(9));
    p.after({wait}, recv);
    p.after({recv}, after);
    const std::vector<OpId> path = path_of(p);
    if (late_receive) {
      EXPECT_THAT(path, ElementsAre(wait, recv, after));
    } else {
      EXPECT_THAT(path, ElementsAre(before, send, recv, after));
    }
  }
}

TEST(CriticalPath, RoundingGrowsWithTheRun) {
  EXPECT_EQ(rounding_s(0), 1e-15);
  EXPECT_EQ(rounding_s(1e-3), 1e-15);
  EXPECT_EQ(rounding_s(2), 2e-12);
  Program nothing(1);
  EXPECT_TRUE(path_of(nothing).empty());
}

TEST(TimedSlack, FloatsByHand) {
  Program p(1);
  const OpId a = p.delay(0, us(1));
  const OpId b = p.delay(0, us(1));
  const OpId c = p.delay(0, us(5));
  const OpId end = p.delay(0, us(2));
  const OpId alone = p.delay(0, us(3));
  p.after({a}, b);
  p.after({b, c}, end);
  const sched::Schedule schedule = p.build();
  const TimedSlack found =
      timed_slack({schedule, platform(), {}}, run_analytic({schedule, platform()}));
  EXPECT_NEAR(found.makespan_s, 7e-6, 1e-15);
  const auto expect = [&](OpId op, double total_us, double free_us) {
    EXPECT_NEAR(found.total_float_s[op.value], total_us * 1e-6, 1e-15);
    EXPECT_NEAR(found.free_float_s[op.value], free_us * 1e-6, 1e-15);
    EXPECT_TRUE(std::isnan(found.message_float_s[op.value]));
  };
  expect(a, 3, 0);
  expect(b, 3, 3);
  expect(c, 0, 0);
  expect(end, 0, 0);
  expect(alone, 4, 4);
  EXPECT_THAT(found.critical_path, ElementsAre(c, end));
  EXPECT_LT(found.unexplained_s, 1e-18);
}

TEST(TimedSlack, WhatTheModelDoesNotExplainIsTheLargestDifference) {
  Program p(1);
  const OpId a = p.delay(0, us(1));
  const OpId b = p.delay(0, us(4));
  const sched::Schedule schedule = p.build();
  for (const bool issue : {false, true}) {
    for (const OpId op : {a, b}) {
      sched::Trace trace = run_analytic({schedule, platform()});
      (issue ? trace.ops[op.value].issued_s : trace.ops[op.value].done_s) += 0.5e-6;
      const TimedSlack found = timed_slack({schedule, platform(), {}}, trace);
      EXPECT_NEAR(found.unexplained_s, 0.5e-6, 1e-15) << issue << op.value;
      EXPECT_FALSE(explains(found));
    }
  }
  TimedSlack slack;
  slack.makespan_s = 1;
  slack.unexplained_s = 0.999e-9;
  EXPECT_TRUE(explains(slack));
  slack.unexplained_s = 1.1e-9;
  EXPECT_FALSE(explains(slack));
}

TEST(Criticality, CountsOperationsAndRanksOnceASample) {
  Program p(3);
  const auto there = p.channel(0, 1);
  const auto back = p.channel(1, 0);
  const OpId send = p.send(there, 1000);
  p.recv(back, 1000);
  p.delay(0, us(1));
  const OpId recv = p.recv(there, 1000);
  const OpId answer = p.send(back, 1000);
  p.after({recv}, answer);
  p.delay(2, us(1));
  const sched::Schedule schedule = p.build();
  const machine::Wiring wiring(platform(), 3);
  static std::vector<std::uint64_t> seeds(4, 0);
  machine::DelayPlan plan;
  plan.seed = 70;
  const machine::Engine counting{.run_once = [](const machine::Setting& setting) {
    ++seeds.at(setting.delays.seed - 70);
    return run_analytic(setting);
  }};
  const Criticality found = criticality({schedule, platform(), wiring, plan}, counting, {4, 1, {}});
  EXPECT_THAT(seeds, ElementsAre(1, 1, 1, 1));
  std::vector<std::uint32_t> expected(schedule.op_count(), 0);
  const double makespan_s = run_analytic({schedule, platform()}).makespan_s();
  // The answer's acknowledgement comes after the answer.
  for (const OpId op : {send, recv, answer}) expected[op.value] = 4;
  EXPECT_EQ(found.of_op, expected);
  EXPECT_THAT(found.of_rank, ElementsAre(4, 4, 0));
  EXPECT_THAT(found.makespan_s, ElementsAre(makespan_s, makespan_s, makespan_s, makespan_s));
}

}  // namespace
}  // namespace slackline::analysis
