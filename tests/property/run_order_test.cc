// A run keeps its own order, and another one does not in which an operation went before what it
// waited for.
#include "analysis/slack/run_order.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "analysis/engines/event_engine.h"
#include "machine/delays.h"
#include "machine/paths.h"
#include "tests/property/random_samples.h"

namespace slackline {
namespace {

using analysis::Constraint;
using analysis::RunOrder;
using testing::Sample;

// Every moment of the operation by `by_s` earlier.
sched::Trace earlier(sched::Trace trace, sched::OpId op, double by_s) {
  sched::OpTimes& times = trace.ops[op.value];
  times.issued_s -= by_s;
  times.wire_s -= by_s;
  times.done_s -= by_s;
  if (!trace.request_s.empty()) trace.request_s[op.value] -= by_s;
  return trace;
}

TEST(RunOrder, IsKeptByTheRunItselfAndByNoneThatBreaksOneOfItsOrders) {
  int broken = 0;
  int with_replies = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const Sample sample =
        seed % 4 == 3 ? testing::random_pattern(seed) : testing::random_program(seed);
    const machine::Setting setting(sample.schedule, sample.platform, sample.plan);
    const sched::Trace trace = analysis::run_events(setting);
    const RunOrder order(setting, trace);
    EXPECT_TRUE(order.is_kept_by(sample.schedule, trace)) << sample.what;

    const analysis::ConstraintGraph graph(setting, machine::Delays(setting),
                                          machine::Paths(setting), trace);
    for (const Constraint& c : graph.of_order()) {
      if (c.head.op() == c.tail.op()) continue;
      const sched::OpId head = c.head.op();
      with_replies += sched::has_reply(sample.schedule.op(head).kind);
      ++broken;
      EXPECT_FALSE(order.is_kept_by(sample.schedule, earlier(trace, head, 2 * trace.makespan_s())))
          << sample.what << ", op " << head.value;
    }
  }
  EXPECT_GT(broken, 1'000);
  EXPECT_GT(with_replies, 100);
}

}  // namespace
}  // namespace slackline
