// Runs a schedule by discrete events, with the order on ports and lanes decided as the run goes.
#pragma once

#include "machine/delay_plan.h"
#include "machine/issue_policy.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// On the platform's own wiring; throws what that does, too.
sched::Trace run_events(const sched::Schedule& schedule, const machine::Platform& platform,
                        const machine::DelayPlan& delays = {},
                        const machine::IssueOrder& order = {});

/// Exact for serial NICs on a star. For fair NICs, and for networks with links that several NICs
/// share, it gives every message the rate of its slowest link, and sets `contended` in the trace if
/// two large messages shared a port, or a link that was too slow for both. Regions draw
/// with the plan's seed. Throws InputError for schedules that cannot
/// finish, a retry that fails for the last time, and an operand that is not there.
sched::Trace run_events(const sched::Schedule& schedule, const machine::Platform& platform,
                        const machine::Wiring& wiring, const machine::DelayPlan& delays = {},
                        const machine::IssueOrder& order = {});

}  // namespace slackline::analysis
