// The CPU time of a run, as a model over its trace: engines charge posts and copies; what a program
// spends on noticing completions is added here.
#pragma once

#include <vector>

#include "machine/platform.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::experiments {

/// The machine whose program sleeps until an interrupt: each completion is seen that much later.
machine::Platform with_interrupts(machine::Platform platform);

/// The share of the time until `end_s` that each rank's one thread is awake when it sleeps until an
/// interrupt. `trace` must be of with_interrupts(platform). A completion of a receive, or of a send
/// with bytes, wakes the thread for interrupt_cost + o_complete; what completes while it is awake
/// is handled in the same turn. Posts and copies are work too, and each receiver copies for
/// `last_copy_s` once it holds the message. A program that polls has 1 throughout.
std::vector<double> awake_shares(const sched::Schedule& schedule, const sched::Trace& trace,
                                 const machine::Platform& platform, double last_copy_s,
                                 double end_s);

}  // namespace slackline::experiments
