// Runs whose messages share links: by SimGrid.
#pragma once

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::experiments {

/// Throws EnvironmentError, with the cure, if Slackline was built without SimGrid.
sched::Trace run_contended(const sched::Schedule& schedule, const machine::Platform& platform,
                           const machine::DelayPlan& delays = {});

}  // namespace slackline::experiments
