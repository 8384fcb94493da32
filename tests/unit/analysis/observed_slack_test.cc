#include "analysis/slack/observed_slack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "sched/compile.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::OpId;

constexpr double kMicrosecond = 1e-6;

// 1 us for 1000 bytes.
machine::Platform star() {
  return machine::parse_platform_spec("star:rate=8Gbps,latency=2us,interleave=0");
}

TEST(ObservedSlack, ByHand) {
  // Rank 0 sends to rank 2 after 10 us; rank 1 at once, and again to rank 2 when that is done.
  testing::Program program(3);
  const auto first = program.channel(0, 2);
  const auto second = program.channel(1, 2);
  const OpId delay = program.delay(0, testing::us(10));
  const OpId late = program.send(first, 1000);
  program.after({delay}, late);
  const OpId early = program.send(second, 1000);
  const OpId again = program.send(second, 1000);
  program.after({early}, again);
  program.recv(first, 1000);
  program.recv(second, 1000);
  program.recv(second, 1000);
  const sched::Schedule schedule = program.build();
  // early arrives at 3, is done at 5; again at 8 and 10; late at 13 and 15.
  const ObservedSlack found = observed_slack(schedule, run_events({schedule, star()}), 0);
  EXPECT_NEAR(found.makespan_s, 15 * kMicrosecond, 1e-15);
  const auto expect = [&](OpId op, double us) {
    EXPECT_NEAR(found.total_float_s[op.value], us * kMicrosecond, 1e-15) << describe(schedule, op);
  };
  expect(delay, 0);
  expect(late, 0);
  // Its arrival at 8 may slip to 10, then it is before late's what a message takes: nobody saw two
  // follow each other more closely.
  expect(again, 2);
  expect(early, 2);
}

// Where processors take no time, all messages are of one size and receives are posted early, that
// is all there is to know. Nobody sees that a message is on its way before its receive is posted.
TEST(ObservedSlack, IsThatOfTheModelWithoutProcessors) {
  for (const char* pattern : {"binomial-pipeline", "chain", "double-tree", "scatter-allgather",
                              "binomial-tree", "sequential", "circulant"}) {
    for (const char* size : {":ranks=8,bytes=16000,block=1000", ":ranks=7,bytes=9000,block=1000"}) {
      const sched::Schedule schedule =
          compile(sched::parse_spec(std::string(pattern) + size + ",ready=none"));
      const sched::Trace trace = run_events({schedule, star()});
      const ObservedSlack found = observed_slack(schedule, trace, 0);
      const TimedSlack model = timed_slack({schedule, star(), {}}, trace);
      EXPECT_NEAR(found.makespan_s, model.makespan_s, 1e-12);
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        if (schedule.op(OpId(i)).kind != sched::OpKind::kSend) continue;
        const std::string where = pattern + (size + (' ' + describe(schedule, OpId(i))));
        EXPECT_LE(found.total_float_s[i], model.total_float_s[i] + 1e-12) << where;
        if (schedule.rank_count() == 7) continue;
        EXPECT_NEAR(found.total_float_s[i], model.total_float_s[i], 1e-12) << where;
      }
    }
  }
}

TEST(ObservedSlack, NothingIsAboveWhatIsLeftOfTheRun) {
  const sched::Schedule schedule =
      compile(sched::parse_spec("double-tree:ranks=6,bytes=16000,block=1000"));
  const machine::Platform platform =
      machine::parse_platform_spec("star:rate=8Gbps,latency=2us,o_post=700ns,o_complete=900ns");
  const sched::Trace trace = run_events({schedule, platform});
  const ObservedSlack found = observed_slack(schedule, trace, 100);
  double least_s = found.makespan_s;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    EXPECT_GE(found.total_float_s[i], 0);
    EXPECT_LE(found.total_float_s[i], found.makespan_s - trace.ops[i].issued_s + 1e-15);
    least_s = std::min(least_s, found.total_float_s[i]);
  }
  EXPECT_LT(least_s, 1e-15);
}

TEST(ObservedSlack, RefusesRunsThatBrokeOffOrOthers) {
  const sched::Schedule schedule = compile(sched::parse_spec("chain:ranks=3,bytes=1000"));
  sched::Trace trace = run_events({schedule, star()});
  trace.ops[1].done_s = std::numeric_limits<double>::infinity();
  EXPECT_THROW(observed_slack(schedule, trace, 0), InputError);
  trace = run_events({schedule, star()});
  trace.schedule.low ^= 1;
  EXPECT_THROW(observed_slack(schedule, trace, 0), InputError);
}

}  // namespace
}  // namespace slackline::analysis
