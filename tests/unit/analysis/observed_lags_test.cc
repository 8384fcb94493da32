// What is frozen of an observed run, each rule on a run of a few operations. Times are written by
// hand, in seconds; every run ends at 20, with a delay of rank 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "analysis/slack/observed_slack.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::ChannelId;
using sched::OpId;
using testing::Program;

constexpr double kEnd = 20;

class Observed {
 public:
  explicit Observed(std::uint32_t ranks) : program(ranks) {
    end_ = program.delay(0, testing::us(1));
  }

  void at(OpId op, double issued_s, double done_s) { times_.push_back({op, issued_s, done_s}); }
  // Its slack is asked for with slack(op).
  void observe(std::uint64_t interleave_bytes = 0) {
    const sched::Schedule schedule = program.build();
    sched::Trace trace;
    trace.schedule = schedule.digest();
    trace.ops.resize(schedule.op_count());
    trace.ops[end_.value].done_s = kEnd;
    for (const Times& t : times_) {
      trace.ops[t.op.value].issued_s = t.issued_s;
      trace.ops[t.op.value].done_s = t.done_s;
    }
    found_ = observed_slack(schedule, trace, interleave_bytes);
    EXPECT_EQ(found_.makespan_s, kEnd);
  }
  double slack(OpId op) const { return found_.total_float_s[op.value]; }

  Program program;

 private:
  struct Times {
    OpId op;
    double issued_s;
    double done_s;
  };
  OpId end_;
  std::vector<Times> times_;
  ObservedSlack found_;
};

// Messages to rank 0 from a rank each, which are acknowledged as they arrive. The receives are
// posted at `posted_s`.
struct Shown {
  double issued_s;
  double arrived_s;
  std::uint64_t bytes = 1000;
  double posted_s = 0;
};
struct Messages {
  std::vector<OpId> sends;
  std::vector<OpId> receives;
};
Messages to_rank_0(Observed& run, const std::vector<Shown>& all) {
  Messages made;
  std::vector<ChannelId> channels;
  for (const Shown& m : all) {
    channels.push_back(run.program.channel(static_cast<std::uint32_t>(channels.size() + 1), 0));
    made.receives.push_back(run.program.recv(channels.back(), m.bytes));
    run.at(made.receives.back(), m.posted_s, m.arrived_s);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    made.sends.push_back(run.program.send(channels[i], all[i].bytes));
    run.at(made.sends.back(), all[i].issued_s, all[i].arrived_s);
  }
  return made;
}

TEST(ObservedLags, AnIssueComesAsLongAfterTheLastPredecessor) {
  Observed run(1);
  const OpId a = run.program.calc(0, testing::us(1));
  const OpId b = run.program.calc(0, testing::us(1));
  const OpId c = run.program.calc(0, testing::us(1));
  const OpId d = run.program.calc(0, testing::us(1));
  run.program.after({a, b}, c);
  run.program.after({c}, d, sched::On::kIssued);
  run.at(a, 0, 1);
  run.at(b, 2, 5);
  run.at(c, 6, 19);
  run.at(d, 8, 16);
  run.observe();
  EXPECT_DOUBLE_EQ(run.slack(d), 4);
  EXPECT_DOUBLE_EQ(run.slack(c), 1);
  EXPECT_DOUBLE_EQ(run.slack(b), 1);
  EXPECT_DOUBLE_EQ(run.slack(a), 4 + 1);
}

TEST(ObservedLags, AnEventThatWasSeenBeforeItsCauseSlipsWithIt) {
  Observed run(1);
  const OpId a = run.program.calc(0, testing::us(1));
  const OpId b = run.program.calc(0, testing::us(1));
  run.program.after({a}, b);
  run.at(a, 1, 5);
  run.at(b, 4, 7);
  run.observe();
  EXPECT_DOUBLE_EQ(run.slack(b), 13);
  EXPECT_DOUBLE_EQ(run.slack(a), 13);
}

TEST(ObservedLags, AChannelIssuesInOrder) {
  Observed run(2);
  const ChannelId to_1 = run.program.channel(0, 1);
  const OpId first = run.program.put(to_1, 10);
  const OpId second = run.program.put(to_1, 10);
  run.at(first, 1, 2);
  run.at(second, 3, 17);
  run.observe();
  EXPECT_DOUBLE_EQ(run.slack(second), 3);
  EXPECT_DOUBLE_EQ(run.slack(first), 3);
}

TEST(ObservedLags, AMessageTakesAsLongAfterBothIssues) {
  Observed run(2);
  const Messages late = to_rank_0(run, {{3, 12, 1000, 5}});
  run.observe();
  EXPECT_DOUBLE_EQ(run.slack(late.receives[0]), 8);
  EXPECT_DOUBLE_EQ(run.slack(late.sends[0]), 8 + 2);
}

TEST(ObservedLags, WhatWaitedComesAsLongAfterTheOneBeforeItAsItDid) {
  Observed run(4);
  // The first finds the ways free and takes 3. The second comes 2 after it, the third 1 after that.
  const Messages m = to_rank_0(run, {{0, 3}, {1, 5}, {1, 6}});
  run.observe();
  EXPECT_DOUBLE_EQ(run.slack(m.sends[2]), 14 + 2);
  EXPECT_DOUBLE_EQ(run.slack(m.sends[1]), 14 + 1);
  EXPECT_DOUBLE_EQ(run.slack(m.sends[0]), 14);
  EXPECT_DOUBLE_EQ(run.slack(m.receives[2]), 14 + 3);
  EXPECT_DOUBLE_EQ(run.slack(m.receives[1]), 14 + 2);
}

TEST(ObservedLags, WhatDidNotWaitKeepsTheLeastDistanceThatWasSeen) {
  Observed run(4);
  // The first is free and takes 5. The second waits, and comes 1 after it. The third is free.
  const Messages m = to_rank_0(run, {{0, 5}, {0, 6}, {10, 15}});
  run.observe();
  // The second may slip by 9 − 1 until it is as close to the third, and with that by 5 more.
  EXPECT_DOUBLE_EQ(run.slack(m.sends[2]), 5);
  EXPECT_DOUBLE_EQ(run.slack(m.sends[1]), 1 + 8 + 5);
  EXPECT_DOUBLE_EQ(run.slack(m.sends[0]), 8 + 5);
}

TEST(ObservedLags, NobodyFollowsLaterThanAFreeMessageTakes) {
  Observed run(3);
  // No two followed each other more closely than 9; a free message takes 3.
  const Messages m = to_rank_0(run, {{0, 3}, {9, 12}});
  run.observe();
  EXPECT_DOUBLE_EQ(run.slack(m.sends[1]), 8);
  EXPECT_DOUBLE_EQ(run.slack(m.sends[0]), 6 + 8);
}

TEST(ObservedLags, WhatMessagesTakeIsTheLowerMedianOfTheFree) {
  // The last arrives 1 after the one before it, and took 10 of which it may have waited.
  struct Case {
    std::vector<Shown> free;
    double alone_s;
  };
  for (const Case& c : {Case{{{0, 1}, {1, 3}, {3, 6}}, 2}, Case{{{0, 3}, {3, 4}, {4, 6}}, 2},
                        Case{{{0, 1}, {1, 3}, {3, 6}, {6, 10}}, 2}, Case{{{0, 4}, {4, 7}}, 3}}) {
    Observed run(6);
    std::vector<Shown> all = c.free;
    const double arrived_s = c.free.back().arrived_s + 1;
    all.push_back({0, arrived_s});
    const Messages m = to_rank_0(run, all);
    run.observe();
    EXPECT_DOUBLE_EQ(run.slack(m.sends.back()), kEnd - c.alone_s);
  }
}

TEST(ObservedLags, EverySizeHasItsOwnTime) {
  Observed run(5);
  // Those of 2000 bytes take 1, those of 1000 take 4.
  const Messages m = to_rank_0(run, {{0, 1, 2000}, {1, 5}, {5, 6, 2000}, {0, 8}});
  run.observe();
  EXPECT_DOUBLE_EQ(run.slack(m.sends[3]), kEnd - 4);
}

TEST(ObservedLags, SmallMessagesWaitForNoOthers) {
  for (const std::uint64_t interleave_bytes : {999, 1000}) {
    Observed run(3);
    const Messages m = to_rank_0(run, {{0, 3}, {1, 5}});
    run.observe(interleave_bytes);
    const bool waits = interleave_bytes == 999;
    EXPECT_DOUBLE_EQ(run.slack(m.sends[0]), waits ? 15 : 17);
    EXPECT_DOUBLE_EQ(run.slack(m.sends[1]), waits ? 16 : 15);
  }
}

TEST(ObservedLags, AMessageWaitsForTheOneBeforeItOfItsSource) {
  Observed run(3);
  const ChannelId to_1 = run.program.channel(0, 1);
  const ChannelId to_2 = run.program.channel(0, 2);
  const OpId first = run.program.send(to_1, 1000);
  const OpId second = run.program.send(to_2, 1000);
  const OpId recv_1 = run.program.recv(to_1, 1000);
  const OpId recv_2 = run.program.recv(to_2, 1000);
  run.at(first, 0, 3);
  run.at(recv_1, 0, 3);
  run.at(second, 1, 5);
  run.at(recv_2, 0, 5);
  run.observe();
  EXPECT_DOUBLE_EQ(run.slack(first), 15);
  EXPECT_DOUBLE_EQ(run.slack(second), 16);
  EXPECT_DOUBLE_EQ(run.slack(recv_2), 17);
}

// A send of rank 0, and what follows when it is done: it lasts until the end.
struct Acknowledged {
  double issued_s, done_s;
  double posted_s, arrived_s;
  std::uint64_t interleave_bytes = 0;
  sched::Service service = sched::Service::kReliable;
};
std::pair<double, double> slack_of_send_and_receive(const Acknowledged& a) {
  Observed run(2);
  const ChannelId to_1 = run.program.channel(0, 1, a.service);
  const OpId send = run.program.send(to_1, 1000);
  const OpId next = run.program.calc(0, testing::us(1));
  run.program.after({send}, next);
  const OpId recv = run.program.recv(to_1, 1000);
  run.at(send, a.issued_s, a.done_s);
  run.at(next, a.done_s, kEnd);
  run.at(recv, a.posted_s, a.arrived_s);
  run.observe(a.interleave_bytes);
  return {run.slack(send), run.slack(recv)};
}

TEST(ObservedLags, AnAcknowledgementComesAfterWhatItTells) {
  using ::testing::Pair;
  // After the arrival, which comes 6 after both issues.
  EXPECT_THAT(slack_of_send_and_receive({1, 10, 2, 8}), Pair(1, 0));
  EXPECT_THAT(slack_of_send_and_receive({1, 8, 2, 8}), Pair(1, 0));
  // Of a small one, it may not: 8 after both issues.
  EXPECT_THAT(slack_of_send_and_receive({1, 10, 2, 8, 1000}), Pair(1, 0));
  EXPECT_THAT(slack_of_send_and_receive({2, 10, 1, 8, 1000}), Pair(0, 1));
  // Before the arrival, but after the receive was posted…
  EXPECT_THAT(slack_of_send_and_receive({1, 7, 2, 8}), Pair(1, 0));
  EXPECT_THAT(slack_of_send_and_receive({1, 2, 2, 8}), Pair(1, 0));
  // …and before that: the receive may be as late as the message is of no use.
  EXPECT_THAT(slack_of_send_and_receive({1, 2, 3, 8}), Pair(0, 12));
  // Of a datagram nobody hears.
  EXPECT_THAT(slack_of_send_and_receive({1, 10, 2, 8, 0, sched::Service::kDatagram}), Pair(0, 12));
}

TEST(ObservedLags, APutIsDoneAsLongAfterItsIssueWhoeverPolls) {
  Observed run(2);
  const ChannelId to_1 = run.program.channel(0, 1);
  const OpId put = run.program.put(to_1, 1000, sched::Notify::kFlag);
  const OpId next = run.program.calc(0, testing::us(1));
  run.program.after({put}, next);
  const OpId poll = run.program.poll(1);
  run.program.flag(put, poll);
  run.at(put, 1, 10);
  run.at(next, 10, 20);
  run.at(poll, 3, 8);
  run.observe();
  EXPECT_DOUBLE_EQ(run.slack(put), 0);
  EXPECT_DOUBLE_EQ(run.slack(poll), 12);
}

}  // namespace
}  // namespace slackline::analysis
