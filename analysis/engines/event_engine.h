#pragma once

#include "machine/engine.h"

namespace slackline::analysis {

/// Exact for serial NICs on a star. For fair NICs, and for networks with links that several NICs
/// share, it gives every message the rate of its slowest link, and sets `contended` in the trace if
/// two large messages shared a port, or a link that was too slow for both. Regions draw
/// with the plan's seed. Throws InputError for schedules that cannot
/// finish, a retry that fails for the last time, and an operand that is not there.
sched::Trace run_events(const machine::Setting& setting);

extern const machine::Engine kEventEngine;

}  // namespace slackline::analysis
