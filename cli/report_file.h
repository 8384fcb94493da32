// The page of a report (report/report.h) of what a command ran or read.
#pragma once

#include <string>

#include "cli/slack_run.h"
#include "report/report.h"
#include "sched/schedule.h"

namespace slackline::cli {

/// `run` as a report shows it, with why its floats are no promise. Keeps references to `run`.
report::ReportedRun reported_run(std::string label, const sched::Schedule& schedule,
                                 const SlackRun& run);

/// The same of a run that is not yet one value. Keeps references to all but the schedule.
report::ReportedRun reported_run(std::string label, const sched::Schedule& schedule,
                                 const sched::Trace& trace, const machine::Platform& platform,
                                 const machine::Wiring& wiring, const machine::DelayPlan& delays);

}  // namespace slackline::cli
