// Where one pass of longest path must not answer: what it says is what the event engine says.
#include "analysis/engines/longest_path.h"

#include <gtest/gtest.h>

#include "analysis/engines/event_engine.h"
#include "tests/property/random_runs.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using testing::Program;
using testing::us;

// An empty message takes no time on a port; one of 10 kB takes 10 us, on the same port, since both
// are within the interleave size.
machine::Platform platform() {
  return machine::parse_platform_spec(
      "star:nic=serial,rate=8Gbps,latency=1us,o_post=1us,o_complete=0,gap=0,interleave=1MiB");
}

// Two lanes of rank 0 send; the empty message stands first in program order, and is posted at
// `empty` + 1 us, the other at `full` + 1 us.
sched::Schedule two_lanes(sched::Time empty, sched::Time full) {
  Program p(3);
  const sched::ChannelId to_1 = p.channel(0, 1);
  const sched::ChannelId to_2 = p.channel(0, 2);
  const sched::OpId wait_empty = p.delay(0, empty);
  const sched::OpId wait_full = p.delay(0, full);
  p.after({wait_empty}, p.send(to_1, 0, 0));
  p.after({wait_full}, p.send(to_2, 10'000, 1));
  p.recv(to_1, 0);
  p.recv(to_2, 10'000);
  return p.build();
}

TEST(LongestPath, AnEmptyMessageBehindOneOfALaterPlaceIsNotItsToTell) {
  int answered = 0;
  for (int empty = 0; empty <= 16; ++empty) {
    for (int full = 0; full <= 6; ++full) {
      const sched::Schedule schedule = two_lanes(us(empty), us(full));
      const auto trace = longest_path({schedule, platform()});
      const sched::Trace expected = run_events({schedule, platform()});
      if (empty > full && empty < full + 10) {
        EXPECT_FALSE(trace) << empty << " and " << full;
      }
      if (!trace) continue;
      ++answered;
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        EXPECT_NEAR(trace->ops[i].wire_s, expected.ops[i].wire_s, 1e-15)
            << empty << " and " << full << ", op " << i;
        EXPECT_NEAR(trace->ops[i].done_s, expected.ops[i].done_s, 1e-15)
            << empty << " and " << full << ", op " << i;
      }
    }
  }
  EXPECT_GT(answered, 10);
}

struct Tally {
  int answered = 0;
  int contended = 0;
};

// Random programs of every kind of operation, most figures of the machine now and then 0.
Tally compare(machine::NicDiscipline nic, std::uint32_t seeds) {
  Tally tally;
  for (std::uint32_t seed = 0; seed < seeds && !::testing::Test::HasFatalFailure(); ++seed) {
    testing::Dice dice(seed);
    const sched::Schedule schedule = testing::RandomSchedule(dice, 5, 25).build();
    const machine::Platform on = testing::random_platform(dice, nic);
    const machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    const auto trace = longest_path({schedule, on, plan});
    if (!trace) continue;
    ++tally.answered;
    tally.contended += trace->contended ? 1 : 0;
    const sched::Trace expected = run_events({schedule, on, plan});
    const double near_s = 1e-9 * expected.makespan_s();
    const auto compare_op = [&](std::uint32_t i) {
      const sched::OpTimes& a = trace->ops[i];
      const sched::OpTimes& b = expected.ops[i];
      ASSERT_NEAR(a.ready_s, b.ready_s, near_s) << "seed " << seed << ", op " << i;
      ASSERT_NEAR(a.issued_s, b.issued_s, near_s) << "seed " << seed << ", op " << i;
      ASSERT_NEAR(a.wire_s, b.wire_s, near_s) << "seed " << seed << ", op " << i;
      ASSERT_NEAR(a.done_s, b.done_s, near_s) << "seed " << seed << ", op " << i;
    };
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) compare_op(i);
    if (::testing::Test::HasFatalFailure()) return tally;
    EXPECT_EQ(trace->contended, expected.contended) << seed;
    EXPECT_EQ(trace->engine, "longest-path");
    EXPECT_EQ(trace->platform, on.spec());
    EXPECT_EQ(trace->delays, plan.text());
    EXPECT_EQ(trace->seed, plan.seed);
  }
  return tally;
}

// It may answer more often one day, but not much less. (Compilers draw somewhat different programs,
// as they are free in which order they evaluate arguments.)
TEST(LongestPath, SaysWhatEventsSayOrNothing) {
  const Tally serial = compare(machine::NicDiscipline::kSerial, 6000);
  EXPECT_GE(serial.answered, 500);
  const Tally fair = compare(machine::NicDiscipline::kFair, 4000);
  EXPECT_GE(fair.answered, 370);
  EXPECT_GE(fair.contended, 20);
}

}  // namespace
}  // namespace slackline::analysis
