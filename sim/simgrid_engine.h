// Runs a schedule on SimGrid: large messages are its flows, everything else is the machine model's.
#pragma once

#include <string>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/driven_run.h"
#include "machine/issue_policy.h"
#include "machine/paths.h"
#include "machine/plan_runs.h"
#include "machine/platform.h"
#include "machine/samples.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sim {

/// On the wiring that wiring_of() makes; throws what that does, too.
sched::Trace run_simgrid(const sched::Schedule& schedule, const machine::Platform& platform,
                         const machine::DelayPlan& delays = {},
                         const machine::IssueOrder& order = {});

/// SimGrid keeps one engine, one clock and one configuration per process, so each run takes place
/// in a forked child: any number may follow each other, and nothing of SimGrid stays behind. Not to
/// be called while other threads hold locks. Throws what run_events() does, EnvironmentError if
/// there can be no child, InternalError if it dies.
sched::Trace run_simgrid(const sched::Schedule& schedule, const machine::Platform& platform,
                         const machine::Wiring& wiring, const machine::DelayPlan& delays = {},
                         const machine::IssueOrder& order = {});

/// Runs it once per plan, as machine::TraceSource says: over `runs.jobs` processes at a time that
/// all begin with the same sealed platform. Throws as run_simgrid().
std::vector<double> run_simgrid_plans(const sched::Schedule& schedule,
                                      const machine::Platform& platform,
                                      const machine::Wiring& wiring,
                                      const machine::IssueOrder& order,
                                      const machine::PlanRuns& runs,
                                      const machine::TraceReading& reading);

/// On the wiring that wiring_of() makes; throws what that does, too.
machine::Samples run_simgrid_samples(const sched::Schedule& schedule,
                                     const machine::Platform& platform,
                                     const machine::DelayPlan& plan,
                                     const machine::IssueOrder& order,
                                     const machine::SampleRuns& runs);

/// Runs it once per sample, with run_simgrid_plans(). Throws as run_simgrid().
machine::Samples run_simgrid_samples(const sched::Schedule& schedule,
                                     const machine::Platform& platform,
                                     const machine::Wiring& wiring, const machine::DelayPlan& plan,
                                     const machine::IssueOrder& order,
                                     const machine::SampleRuns& runs);

/// Any other run of a schedule's messages inside SimGrid (machine/driven_run.h), in a child: `make`
/// is called there, and what it makes leaves nothing but its result(). `paths` is of `schedule` and
/// `wiring`. Throws as run_simgrid().
std::string drive_in_simgrid(const sched::Schedule& schedule, const machine::Platform& platform,
                             const machine::Wiring& wiring, const machine::Paths& paths,
                             const machine::MakeRun& make);

}  // namespace slackline::sim
