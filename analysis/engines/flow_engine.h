// Runs a schedule by discrete events in which large messages share links max-min fairly.
#pragma once

#include <string>

#include "machine/delay_plan.h"
#include "machine/driven_run.h"
#include "machine/issue_policy.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// Follows the machine model (docs/architecture.md) on every wiring, with serial and with fair
/// NICs; between events the large messages under way have max-min fair rates. The rates that a
/// delay plan gives to links hold from their moments on, also for what is under way. Throws what
/// run_events() does.
sched::Trace run_flows(const sched::Schedule& schedule, const machine::Platform& platform,
                       const machine::Wiring& wiring, const machine::DelayPlan& delays = {},
                       const machine::IssueOrder& order = {});

/// Any other run of a schedule's messages (machine/driven_run.h). `paths` is of that schedule and
/// `wiring`.
std::string drive_flows(const machine::Wiring& wiring, const machine::Paths& paths,
                        const machine::MakeRun& make);

}  // namespace slackline::analysis
