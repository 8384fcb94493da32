// Every rule of the machine model, by numbers worked out by hand: the event engine, and the longest
// path where it answers.
#include <gtest/gtest.h>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/longest_path.h"
#include "tests/unit/analysis/lane_cases.h"
#include "tests/unit/analysis/message_case.h"
#include "tests/unit/analysis/one_sided_cases.h"
#include "tests/unit/analysis/two_sided_cases.h"

namespace slackline {
namespace {

using machine::IssuePolicy;
using testing::MessageCase;
using testing::Program;

void expect_by_every_engine(const std::vector<MessageCase>& cases) {
  for (const MessageCase& c : cases) {
    expect_seen(c, analysis::run_events({c.schedule, c.platform, c.delays, c.policy}));
    expect_seen(c, analysis::run_analytic({c.schedule, c.platform, c.delays, c.policy}));
    if (c.policy != IssuePolicy::kInOrder) continue;
    const auto fast = analysis::longest_path({c.schedule, c.platform, c.delays});
    if (fast) expect_seen(c, *fast);
  }
}

TEST(MessageTimes, TwoSided) { expect_by_every_engine(testing::two_sided_cases()); }
TEST(MessageTimes, OneSided) { expect_by_every_engine(testing::one_sided_cases()); }
TEST(MessageTimes, Lanes) { expect_by_every_engine(testing::lane_cases()); }

TEST(MessageTimes, LongestPathAnswersWhereNothingMeets) {
  for (const MessageCase& c :
       {testing::one_large_message(), testing::small_message_and_credit(), testing::late_receive(),
        testing::datagram(), testing::one_sender_gap(15, 16, "gap"), testing::gap_between_small(),
        testing::slow_pair(), testing::plain_put(), testing::put_with_immediate(),
        testing::put_with_flag(), testing::delay_and_join(), testing::one_off_delay(true)}) {
    EXPECT_TRUE(analysis::longest_path({c.schedule, c.platform, c.delays})) << c.name;
  }
}

TEST(MessageTimes, LongestPathDeclinesWhereItWouldBeWrong) {
  for (const MessageCase& c :
       {testing::incast_serial(), testing::head_of_line(), testing::plain_get(),
        testing::one_atomic(), testing::one_off_delay(false), testing::channel_order()}) {
    EXPECT_FALSE(analysis::longest_path({c.schedule, c.platform, c.delays})) << c.name;
  }
}

// Fair NICs: the event engine gives each message its full rate, and says that they shared.
TEST(MessageTimes, FairNicsSayWhenTheyShared) {
  MessageCase incast = testing::incast_serial();
  incast.platform.nic = machine::NicDiscipline::kFair;
  incast.expected.clear();
  const sched::OpId sends[] = {sched::OpId(4), sched::OpId(5), sched::OpId(6)};
  const double out_us[] = {1.5, 1, 1};
  for (int i = 0; i < 3; ++i) {
    incast.expected.push_back({sends[i], out_us[i], out_us[i], out_us[i] + 18});
  }
  for (const sched::Trace& trace : {analysis::run_events({incast.schedule, incast.platform}),
                                    analysis::run_analytic({incast.schedule, incast.platform})}) {
    expect_seen(incast, trace);
    EXPECT_TRUE(trace.contended) << trace.engine;
  }
  MessageCase gap = testing::one_sender_gap(15, 16, "gap");
  gap.platform.nic = machine::NicDiscipline::kFair;
  for (const sched::Trace& trace : {analysis::run_events({gap.schedule, gap.platform}),
                                    analysis::run_analytic({gap.schedule, gap.platform})}) {
    expect_seen(gap, trace);
    EXPECT_FALSE(trace.contended) << trace.engine;
  }
}

TEST(MessageTimes, NothingToDo) {
  const sched::Schedule empty = Program(3).build();
  for (const sched::Trace& trace : {analysis::run_events({empty, testing::round_platform()}),
                                    analysis::run_analytic({empty, testing::round_platform()})}) {
    EXPECT_EQ(trace.makespan_s(), 0.0);
    EXPECT_TRUE(trace.ops.empty());
  }
}

TEST(MessageTimes, TheTraceSaysWhatRan) {
  const MessageCase c = testing::slow_pair();
  const sched::Trace trace = analysis::run_events({c.schedule, c.platform, c.delays});
  EXPECT_EQ(trace.schedule, c.schedule.digest());
  EXPECT_EQ(trace.platform, c.platform.spec());
  EXPECT_EQ(trace.delays, c.delays.text());
  EXPECT_EQ(trace.engine, "event");
  EXPECT_FALSE(trace.contended);
}

}  // namespace
}  // namespace slackline
