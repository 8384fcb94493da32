// What a trace says about the order of a run, and about operations that did not run once.
#include "sched/workloads/run_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Program;

struct Times {
  OpId op;
  double issued_s;
  double done_s;
};

sched::Trace trace_of(const sched::Schedule& schedule, std::initializer_list<Times> all) {
  sched::Trace trace;
  trace.schedule = schedule.digest();
  trace.ops.resize(schedule.op_count());
  for (const Times& t : all) {
    trace.ops[t.op.value].issued_s = t.issued_s;
    trace.ops[t.op.value].done_s = t.done_s;
  }
  return trace;
}

TEST(CheckOrder, AnEdgeIsFromDoneOrFromIssued) {
  for (const sched::On on : {sched::On::kDone, sched::On::kIssued}) {
    Program p(1);
    const OpId first = p.calc(0, testing::us(1));
    const OpId second = p.calc(0, testing::us(1));
    p.after({first}, second, on);
    const sched::Schedule s = p.build();
    const auto findings = [&](double issued_s) {
      return check_order(s, trace_of(s, {{first, 2, 4}, {second, issued_s, 9}}));
    };
    EXPECT_THAT(findings(4), IsEmpty());
    EXPECT_EQ(findings(3).size(), on == sched::On::kDone ? 1u : 0u);
    EXPECT_EQ(findings(2).size(), on == sched::On::kDone ? 1u : 0u);
    ASSERT_EQ(findings(1).size(), 1u);
    const sched::Diagnostic found = findings(1).front();
    EXPECT_EQ(found.code, sched::Code::kStructure);
    EXPECT_EQ(found.severity, sched::Severity::kError);
    EXPECT_EQ(found.op, second);
    EXPECT_EQ(found.message,
              describe(s, second) + " was issued at 1 s, although " + describe(s, first) +
                  (on == sched::On::kDone ? " was done at 4 s" : " was issued at 2 s") +
                  "; expected it after that");
  }
}

TEST(CheckOrder, NothingIsDoneBeforeItIsIssued) {
  Program p(1);
  const OpId only = p.calc(0, testing::us(1));
  const sched::Schedule s = p.build();
  EXPECT_THAT(check_order(s, trace_of(s, {{only, 2, 2}})), IsEmpty());
  const sched::Diagnostics found = check_order(s, trace_of(s, {{only, 2, 1}}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].message, HasSubstr("was done at 1 s, although"));
  EXPECT_THAT(found[0].message, HasSubstr("was issued at 2 s; expected"));
}

TEST(CheckOrder, AMessageArrivesAfterItWasSent) {
  Program p(2);
  const auto channel = p.channel(0, 1);
  const OpId send = p.send(channel, 8);
  const OpId recv = p.recv(channel, 8);
  const sched::Schedule s = p.build();
  const sched::Trace early = trace_of(s, {{send, 5, 7}, {recv, 1, 3}});
  ASSERT_EQ(check_order(s, early).size(), 1u);
  EXPECT_EQ(check_order(s, early)[0].op, recv);
  // Clocks of the two ranks that may be 2 s apart explain it.
  EXPECT_EQ(check_order(s, early, 1.9).size(), 1u);
  EXPECT_THAT(check_order(s, early, 2), IsEmpty());
  // A transport may acknowledge before the receive is posted.
  EXPECT_THAT(check_order(s, trace_of(s, {{send, 1, 2}, {recv, 5, 6}})), IsEmpty());
}

TEST(CheckOrder, AChannelIssuesInOrder) {
  Program p(2);
  const auto channel = p.channel(0, 1);
  const OpId sends[] = {p.send(channel, 8), p.send(channel, 8)};
  const OpId recvs[] = {p.recv(channel, 8), p.recv(channel, 8)};
  const sched::Schedule s = p.build();
  const auto findings = [&](double send_s, double recv_s, double clock_error_s) {
    return check_order(
        s,
        trace_of(
            s, {{sends[0], 2, 9}, {sends[1], send_s, 9}, {recvs[0], 2, 8}, {recvs[1], recv_s, 8}}),
        clock_error_s);
  };
  EXPECT_THAT(findings(2, 2, 0), IsEmpty());
  // One rank has one clock.
  ASSERT_EQ(findings(1, 2, 5).size(), 1u);
  EXPECT_EQ(findings(1, 2, 5)[0].op, sends[1]);
  ASSERT_EQ(findings(2, 1, 5).size(), 1u);
  EXPECT_EQ(findings(2, 1, 5)[0].op, recvs[1]);
}

TEST(CheckOrder, NamesTheLatestOfWhatCameTooLate) {
  for (const bool second_is_later : {false, true}) {
    Program p(1);
    const OpId a = p.calc(0, testing::us(1));
    const OpId b = p.calc(0, testing::us(1));
    const OpId c = p.calc(0, testing::us(1));
    const OpId last = p.join(0);
    p.after({a, b, c}, last);
    const sched::Schedule s = p.build();
    const sched::Diagnostics found = check_order(s, trace_of(s, {{a, 1, second_is_later ? 5. : 6.},
                                                                 {b, 1, second_is_later ? 6. : 5.},
                                                                 {c, 1, 2},
                                                                 {last, 3, 3}}));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].op, last);
    EXPECT_THAT(found[0].message,
                HasSubstr(describe(s, second_is_later ? b : a) + " was done at 6 s"));
  }
}

TEST(CheckOrder, OneMomentHasNoOrder) {
  Program p(1);
  const OpId first = p.calc(0, testing::us(1));
  const OpId second = p.calc(0, testing::us(1));
  p.after({first}, second);
  const sched::Schedule s = p.build();
  const auto count = [&](double done_s) {
    return check_order(s, trace_of(s, {{first, 0, done_s}, {second, 0, 1}})).size();
  };
  EXPECT_EQ(count(0.9e-12), 0u);
  EXPECT_EQ(count(1.1e-12), 1u);
}

// So many that each is a finding of its own.
sched::Schedule many(Program& p, int count) {
  for (int i = 0; i < count; ++i) p.calc(0, testing::us(1));
  return p.build();
}

TEST(CheckOrder, EndsAtTheMostFindings) {
  Program p(1);
  const sched::Schedule s = many(p, 30);
  sched::Trace trace = trace_of(s, {});
  for (sched::OpTimes& times : trace.ops) times.issued_s = 1;
  EXPECT_EQ(check_order(s, trace).size(), 20u);
  EXPECT_EQ(check_order(s, trace, 0, 3).size(), 3u);
  EXPECT_EQ(check_order(s, trace, 0, 0).size(), 0u);
  EXPECT_EQ(check_order(s, trace, 0, 99).size(), 30u);
  // The last operation is looked at, too.
  trace = trace_of(s, {});
  trace.ops[29].issued_s = 1;
  ASSERT_EQ(check_order(s, trace).size(), 1u);
  EXPECT_EQ(check_order(s, trace)[0].op, OpId(29));
}

TEST(CheckOrder, LeavesOutSchedulesWithRegions) {
  Program p(1);
  const OpId only = p.calc(0, testing::us(1));
  sched::Region twice;
  twice.kind = sched::RegionKind::kRepeat;
  twice.entry = only;
  twice.count = 1;
  twice.max_attempts = 2;
  p.builder().add_region(twice);
  const sched::Schedule s = p.build();
  EXPECT_THAT(check_order(s, trace_of(s, {{only, 2, 1}})), IsEmpty());
}

TEST(CheckRanOnce, NamesWhatDidNot) {
  Program p(1);
  const sched::Schedule s = many(p, 5);
  sched::Trace trace = trace_of(s, {});
  EXPECT_THAT(check_ran_once(s, trace), IsEmpty());
  trace.ops[0].attempts = 0;
  trace.ops[1].done_s = std::numeric_limits<double>::infinity();
  trace.ops[3].attempts = 2;
  trace.ops[4].attempts = 3;
  trace.ops[4].done_s = std::numeric_limits<double>::infinity();
  const sched::Diagnostics found = check_ran_once(s, trace);
  ASSERT_EQ(found.size(), 4u);
  const char* const how[] = {"ran 0 times", "never ended", "ran 2 times", "ran 3 times"};
  const std::uint32_t which[] = {0, 1, 3, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found[i].op, OpId(which[i]));
    EXPECT_EQ(found[i].code, sched::Code::kStructure);
    EXPECT_EQ(found[i].severity, sched::Severity::kError);
    EXPECT_EQ(found[i].message, describe(s, OpId(which[i])) + ' ' + how[i] + "; expected once");
  }
}

}  // namespace
}  // namespace slackline::analysis
