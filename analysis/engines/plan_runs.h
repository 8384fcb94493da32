// Many runs of the analytic engine, the event engine or the flow engine, over threads.
#pragma once

#include <vector>

#include "machine/issue_policy.h"
#include "machine/plan_runs.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::analysis {

/// Runs run_analytic() once per plan, as machine::TraceSource says.
std::vector<double> run_analytic_plans(const sched::Schedule& schedule,
                                       const machine::Platform& platform,
                                       const machine::Wiring& wiring,
                                       const machine::IssueOrder& order,
                                       const machine::PlanRuns& runs,
                                       const machine::TraceReading& reading);

/// The same with run_flows().
std::vector<double> run_flow_plans(const sched::Schedule& schedule,
                                   const machine::Platform& platform, const machine::Wiring& wiring,
                                   const machine::IssueOrder& order, const machine::PlanRuns& runs,
                                   const machine::TraceReading& reading);

/// The same with run_events().
std::vector<double> run_event_plans(const sched::Schedule& schedule,
                                    const machine::Platform& platform,
                                    const machine::Wiring& wiring, const machine::IssueOrder& order,
                                    const machine::PlanRuns& runs,
                                    const machine::TraceReading& reading);

}  // namespace slackline::analysis
