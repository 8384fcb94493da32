// SimGrid under the same hand-made numbers as the event engine, and what only it knows: sharing.
#include <gtest/gtest.h>

#include "sim/simgrid_engine.h"
#include "tests/unit/analysis/lane_cases.h"
#include "tests/unit/analysis/message_case.h"
#include "tests/unit/analysis/one_sided_cases.h"
#include "tests/unit/analysis/two_sided_cases.h"

namespace slackline {
namespace {

using sched::ChannelId;
using sched::OpId;
using testing::MessageCase;
using testing::Program;
using testing::us;

void expect_by_simgrid(const std::vector<MessageCase>& cases) {
  for (const MessageCase& c : cases) {
    expect_seen(c, sim::run_simgrid({c.schedule, c.platform, c.delays, c.policy}));
  }
}

TEST(SimgridTimes, TwoSided) { expect_by_simgrid(testing::two_sided_cases()); }
TEST(SimgridTimes, OneSided) { expect_by_simgrid(testing::one_sided_cases()); }
TEST(SimgridTimes, Lanes) { expect_by_simgrid(testing::lane_cases()); }

machine::Platform fair_platform() {
  machine::Platform p = testing::round_platform();
  p.nic = machine::NicDiscipline::kFair;
  p.o_post = us(0);
  return p;
}

// SimGrid ends shared flows within its precision, not on the picosecond.
void expect_shared(const sched::Trace& trace, OpId op, double wire_us, double done_us) {
  EXPECT_NEAR(trace.ops[op.value].wire_s * 1e6, wire_us, 1e-5);
  EXPECT_NEAR(trace.ops[op.value].done_s * 1e6, done_us, 1e-5);
}

TEST(SimgridSharing, AnIncastGetsThirds) {
  Program p(4);
  OpId recv[3];
  OpId send[3];
  ChannelId from[3];
  for (std::uint32_t i = 0; i < 3; ++i) from[i] = p.channel(i + 1, 0);
  for (int i = 0; i < 3; ++i) recv[i] = p.recv(from[i], 10'000);
  for (int i = 0; i < 3; ++i) send[i] = p.send(from[i], 10'000);
  const sched::Trace trace = sim::run_simgrid({p.build(), fair_platform()});
  for (int i = 0; i < 3; ++i) {
    expect_shared(trace, send[i], 0, 30 + 3 + 3 + 2);
    EXPECT_NEAR(trace.ops[recv[i].value].done_s * 1e6, 35, 1e-5);
  }
}

TEST(SimgridSharing, AnOutPortIsHalvedWhileBothAreOnIt) {
  Program p(3);
  const ChannelId a = p.channel(0, 1);
  const ChannelId b = p.channel(0, 2);
  const OpId first = p.send(a, 10'000);
  const OpId second = p.send(b, 10'000);
  p.recv(a, 10'000);
  p.recv(b, 10'000);
  machine::Platform platform = fair_platform();
  platform.o_post = us(1);
  // Alone from 1 to 2: 1000 bytes. Halves until the first has its other 9000, at 20; the second
  // then lacks 1000, at full rate: 21.
  const sched::Trace trace = sim::run_simgrid({p.build(), platform});
  expect_shared(trace, first, 1, 28);
  expect_shared(trace, second, 2, 29);
}

TEST(SimgridSharing, WhatASlowPairLeavesIsOthers) {
  Program p(3);
  const ChannelId slow = p.channel(0, 1);
  const ChannelId fast = p.channel(0, 2);
  const OpId first = p.send(slow, 5'000);
  const OpId second = p.send(fast, 15'000);
  p.recv(slow, 5'000);
  p.recv(fast, 15'000);
  machine::DelayPlan delays;
  delays.pairs.push_back({sched::RankId(0), sched::RankId(1), {2'000'000'000}});
  // 250 bytes a microsecond for the pair, 750 for the other: both take 20.
  const sched::Trace trace = sim::run_simgrid({p.build(), fair_platform(), delays});
  expect_shared(trace, first, 0, 28);
  expect_shared(trace, second, 0, 28);
}

TEST(SimgridSharing, SmallMessagesTakeNothingFromLargeOnes) {
  Program p(2);
  const ChannelId a = p.channel(0, 1);
  const ChannelId b = p.channel(0, 1);
  const OpId large = p.send(a, 10'000);
  const OpId small = p.send(b, 4'000);
  p.recv(a, 10'000);
  p.recv(b, 4'000);
  const sched::Trace trace = sim::run_simgrid({p.build(), fair_platform()});
  expect_shared(trace, large, 0, 18);
  expect_shared(trace, small, 0, 12);
}

TEST(SimgridSharing, MessagesOfOppositeDirectionsDoNotShare) {
  Program p(2);
  const ChannelId there = p.channel(0, 1);
  const ChannelId back = p.channel(1, 0);
  const OpId send = p.send(there, 10'000);
  p.recv(back, 10'000);
  const OpId reply = p.send(back, 10'000);
  p.recv(there, 10'000);
  const sched::Trace trace = sim::run_simgrid({p.build(), fair_platform()});
  expect_shared(trace, send, 0, 18);
  expect_shared(trace, reply, 0, 18);
}

TEST(SimgridTimes, NothingToDo) {
  const sched::Trace trace = sim::run_simgrid({Program(2).build(), testing::round_platform()});
  EXPECT_EQ(trace.makespan_s(), 0.0);
  EXPECT_EQ(trace.engine, "simgrid");
}

}  // namespace
}  // namespace slackline
