// Traces that timelines in other formats are held against: of runs of random programs, and of times
// that no run would have.
#pragma once

#include <limits>

#include "analysis/engines/event_engine.h"
#include "tests/property/random_samples.h"

namespace slackline::testing {

/// Calls `check` with the schedule, the trace and what it is, for people.
template <class Check>
void for_runs(const Check& check) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    for (const Sample& sample : {random_program(seed), random_pattern(seed)}) {
      const sched::Trace trace =
          analysis::run_events({sample.schedule, sample.platform, sample.plan});
      check(sample.schedule, trace, sample.what);
    }
  }
}

/// The same, of times from 0 to 1e306 s that do not respect the arcs, up to where an operation
/// ended.
template <class Check>
void for_odd_traces(const Check& check) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const Sample sample = random_program(seed);
    sched::Trace trace;
    trace.schedule = sample.schedule.digest();
    trace.ops.resize(sample.schedule.op_count());
    for (sched::OpTimes& op : trace.ops) {
      double at_s = 0;
      for (double* time_s : {&op.ready_s, &op.issued_s, &op.wire_s, &op.done_s}) {
        at_s += dice.below(1'000'000) * dice.pick({0.0, 1e-13, 1e-9, 1e-3, 1e6, 1e300});
        if (dice.one_in(15)) at_s = kNever;
        *time_s = at_s;
      }
    }
    check(sample.schedule, trace, sample.what);
  }
}

}  // namespace slackline::testing
