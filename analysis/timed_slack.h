// Where a run has slack: total and free float of every operation, and the critical path, with the
// order on lanes and ports frozen as the run had it.
#pragma once

#include <vector>

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

struct TimedSlack {
  double makespan_s = 0;
  /// How far the operation's issue can slip and the schedule still ends on time.
  std::vector<double> total_float_s;
  /// … and no event of any other operation moves.
  std::vector<double> free_float_s;
  /// One chain of operations without slack, from the start to the last event.
  std::vector<sched::OpId> critical_path;
  /// The largest difference between the trace and the same run computed again with that order.
  /// Above rounding it means that the trace has seen what the machine model alone does not explain.
  double unexplained_s = 0;
};

/// `trace` must be of this schedule (InputError otherwise) and complete, with the platform and the
/// delays of the run. Linear in operations but for sorting them by port.
TimedSlack timed_slack(const sched::Schedule& schedule, const machine::Platform& platform,
                       const machine::DelayPlan& delays, const sched::Trace& trace);

/// The same where the network's wiring is known already, or only SimGrid could read it.
TimedSlack timed_slack(const sched::Schedule& schedule, const machine::Platform& platform,
                       const machine::Wiring& wiring, const machine::DelayPlan& delays,
                       const sched::Trace& trace);

}  // namespace slackline::analysis
