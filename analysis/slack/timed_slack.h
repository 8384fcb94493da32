// Where a run has slack: total and free float of every operation, and the critical path, with the
// order on lanes and ports frozen as the run had it.
#pragma once

#include <vector>

#include "analysis/slack/wire_times.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

struct TimedSlack {
  double makespan_s = 0;
  /// How far the operation's issue can slip and the schedule still ends on time.
  std::vector<double> total_float_s;
  /// … and no event of any other operation moves.
  std::vector<double> free_float_s;
  /// How much longer it can hold its lane and the schedule still ends on time. A calculation, a
  /// copy or a reduction is issued as it begins: what waits for its issue alone is not held up
  /// then. Of all others it is the total float, as they are issued when they leave their lane.
  std::vector<double> hold_float_s;
  /// Of messages, how far their first byte on the wire can slip, where the issue of one may still
  /// wait for its NIC; of gets and atomics the reply's. NaN for operations that send nothing.
  std::vector<double> message_float_s;
  /// One chain of operations without slack, from the start to the last event.
  std::vector<sched::OpId> critical_path;
  /// The largest difference between the trace and the same run computed again with that order.
  /// Above rounding it means that the trace has seen what the machine model alone does not explain.
  double unexplained_s = 0;
  WireTimes wire_times = WireTimes::kModel;  // that the run was computed again with
};

/// `trace` must be of this setting's schedule (InputError otherwise) and complete. With
/// WireTimes::kRun every message keeps the time that it took in the run: right where messages
/// shared links, which the model alone does not see. What neither sees: a message that is delayed
/// leaves the others its share of their links for a while, and takes from others theirs later.
/// Linear in operations but for sorting them by port.
TimedSlack timed_slack(const machine::Setting& setting, const sched::Trace& trace,
                       WireTimes wire = WireTimes::kModel);

/// Whether the run computed again is the run, but for rounding (a relative 1e-9, and some instants
/// of a picosecond that engines take as one).
bool explains(const TimedSlack& slack);

/// By the machine model if that explains the run, else with the run's own times on the wire if they
/// explain more of it.
TimedSlack slack_of_run(const machine::Setting& setting, const sched::Trace& trace);

}  // namespace slackline::analysis
