// Runs a schedule by discrete events in which large messages share links max-min fairly.
#pragma once

#include "machine/engine.h"

namespace slackline::analysis {

/// Follows the machine model (docs/architecture.md) on every wiring, with serial and with fair
/// NICs; between events the large messages under way have max-min fair rates. The rates that a
/// delay plan gives to links hold from their moments on, also for what is under way. Throws what
/// run_events() does.
sched::Trace run_flows(const machine::Setting& setting);

extern const machine::Engine kFlowEngine;

}  // namespace slackline::analysis
