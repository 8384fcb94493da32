// What a group is, and on what, for its failures to be simulated.
#pragma once

#include "analysis/group/failure_run.h"
#include "machine/delay_plan.h"
#include "machine/platform.h"

namespace slackline::analysis {

/// Throws InputError for what is no scenario, and Unsupported for what run_group() cannot simulate.
void check_scenario(const GroupScenario& scenario, const machine::Platform& platform,
                    const machine::DelayPlan& delays);

}  // namespace slackline::analysis
