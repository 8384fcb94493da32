// The analytic engine: the fast answer where its assumptions hold, the event engine's where not.
#pragma once

#include "machine/delay_plan.h"
#include "machine/issue_policy.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// On the platform's own wiring; throws what that does, too.
sched::Trace run_analytic(const sched::Schedule& schedule, const machine::Platform& platform,
                          const machine::DelayPlan& delays = {},
                          const machine::IssueOrder& order = {});

/// The times of every operation, exact for serial NICs on a star; elsewhere `contended` in the
/// trace says if sharing was left out. The trace's engine is "longest-path" or "event": who
/// answered. Of a schedule with regions it is the best case (machine/static_forms.h) that is
/// priced, by either, and the engine is "best-case"; throws Unsupported for one with delays or by
/// slack.
sched::Trace run_analytic(const sched::Schedule& schedule, const machine::Platform& platform,
                          const machine::Wiring& wiring, const machine::DelayPlan& delays = {},
                          const machine::IssueOrder& order = {});

}  // namespace slackline::analysis
