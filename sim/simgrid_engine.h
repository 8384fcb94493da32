// Runs a schedule on SimGrid: large messages are its flows, everything else is the machine model's.
#pragma once

#include "machine/engine.h"

namespace slackline::sim {

/// SimGrid keeps one engine, one clock and one configuration per process, so each run takes place
/// in a forked child: any number may follow each other, and nothing of SimGrid stays behind. Not to
/// be called while other threads hold locks. Throws what run_events() does, EnvironmentError if
/// there can be no child, InternalError if it dies.
sched::Trace run_simgrid(const machine::Setting& setting);

/// Many runs are made over that many processes at a time that all begin with the same sealed
/// platform. What it is asked to drive is made in a child, and leaves nothing but its result().
extern const machine::Engine kSimgridEngine;

}  // namespace slackline::sim
