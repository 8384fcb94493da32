// Slack of a run of which nothing but the times is known: no model of the machine that made them.
#pragma once

#include <vector>

#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

struct ObservedSlack {
  double makespan_s = 0;
  /// How far the issue of an operation can slip, alone, and the run still ends on time.
  std::vector<double> total_float_s;
};

/// What of the run is frozen:
///   - an operation is issued as long after the last of its predecessors as it was;
///   - a message is there as long after both its issues (its own and its receive's) as in the run,
///     or as messages of its size took that found the ways free, if that is less: then what it
///     waited for was the message before it at its target, or of its source, and it comes as long
///     after that as it did;
///   - other operations take as long as they took.
/// So every time is what it was, exactly, and whatever is late keeps what comes after it waiting.
/// What it does not see: who shares a core, and what would have overtaken. Messages of at most
/// `interleave_bytes` wait for no others.
///
/// The trace must be of this schedule and complete (InputError otherwise).
ObservedSlack observed_slack(const sched::Schedule& schedule, const sched::Trace& trace,
                             std::uint64_t interleave_bytes);

}  // namespace slackline::analysis
