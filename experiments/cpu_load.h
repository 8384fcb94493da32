// The CPU time of a run, as a model over its trace: how long the threads of ranks are awake.
#pragma once

#include <span>
#include <vector>

#include "machine/platform.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::experiments {

/// The machine whose program sleeps until an interrupt whenever it has nothing to do.
machine::Platform with_interrupts(machine::Platform platform);

/// Further work of a rank's thread.
struct Work {
  sched::RankId rank;
  double begin_s = 0;
  double end_s = 0;
};

/// The share of the time until `end_s` that each rank's one thread is awake when it sleeps until an
/// interrupt. `trace` must be of with_interrupts(platform). A completion of a receive, or of a send
/// with bytes, wakes the thread for interrupt_cost + o_complete; what completes while it is awake
/// is handled in the same turn. Posts, copies and `more` are work too. A program that polls has 1
/// throughout.
std::vector<double> awake_shares(const sched::Schedule& schedule, const sched::Trace& trace,
                                 const machine::Platform& platform, std::span<const Work> more,
                                 double end_s);

}  // namespace slackline::experiments
