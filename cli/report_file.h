// The page of a report (report/report.h) of what a command ran or read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slack_run.h"
#include "cli/validation_report.h"
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

/// What came of each delayed operation, by the prediction that decides.
std::vector<report::ValidatedDelay> validated_delays(const ValidationReport& validation);

/// Bytes an operation, with all that a page is made from. Measured: 640.
inline constexpr std::uint64_t kMemoryOfReportedOp = 750;
/// --report of commands that have an answer of their own. Throws InputError if it is standard
/// output, where the answer is.
void check_report_file(const std::optional<std::string>& file);
/// Writes the page there, if there is a place. Throws what report_page() and write_file() do.
void write_report_file(const std::optional<std::string>& file, const report::Report& report,
                       Console& console);

}  // namespace slackline::cli
