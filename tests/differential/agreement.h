// When two engines say the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/flow_engine.h"
#include "machine/event_queue.h"
#include "sched/schedule.h"
#include "sched/trace.h"
#include "sim/simgrid_engine.h"

namespace slackline::testing {

/// Every operation's issue and end, to the 1e-9 of the makespan that the engines promise.
inline void expect_equal(const sched::Trace& a, const sched::Trace& b, const std::string& what) {
  ASSERT_EQ(a.ops.size(), b.ops.size()) << what;
  const double near_s = 1e-9 * a.makespan_s();
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    ASSERT_NEAR(a.ops[i].issued_s, b.ops[i].issued_s, near_s) << what << ", op " << i;
    ASSERT_NEAR(a.ops[i].done_s, b.ops[i].done_s, near_s) << what << ", op " << i;
  }
}

/// Holds SimGrid and the flow engine to the run of the event engine: times, and results.
inline void expect_all_equal(const machine::Setting& setting, const sched::Trace& events,
                             const std::string& what) {
  for (const sched::Trace& trace : {sim::run_simgrid(setting), analysis::run_flows(setting)}) {
    expect_equal(trace, events, what + " by " + trace.engine);
    EXPECT_EQ(trace.results, events.results) << what << " by " << trace.engine;
  }
}

/// Whether a region ran more than once.
inline bool has_repeated(const sched::Trace& trace) {
  return std::ranges::any_of(trace.ops, [](const sched::OpTimes& op) { return op.attempts > 1; });
}

/// Whatever ties it breaks, and however it rounds: no operation is issued before what it waits for
/// is done, but within the instant of both. Of runs in which nothing is repeated or passed over.
inline void expect_in_order(const sched::Schedule& schedule, const sched::Trace& trace,
                            const std::string& what) {
  const auto ran_once = [](const sched::OpTimes& op) { return op.attempts == 1; };
  if (!std::ranges::all_of(trace.ops, ran_once)) return;
  for (const sched::Edge& edge : schedule.edges()) {
    if (edge.on != sched::On::kDone) continue;
    ASSERT_GE(trace.ops[edge.succ.value].issued_s + machine::kInstant_s,
              trace.ops[edge.pred.value].done_s)
        << what << ", op " << edge.succ.value << " after " << edge.pred.value;
  }
}

/// Holds a run of the setting to its floor. Whether they are close.
inline bool is_close_above_floor(const machine::Setting& setting, const sched::Trace& trace,
                                 const std::string& what) {
  const double floor_s = analysis::makespan_floor_s(setting);
  EXPECT_LE(floor_s, trace.makespan_s() * (1 + 1e-12)) << what;
  return floor_s > 0.8 * trace.makespan_s();
}

}  // namespace slackline::testing
