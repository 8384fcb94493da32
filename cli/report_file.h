// The page of a report (report/report.h) of what a command ran, read or answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/console.h"
#include "cli/validation_report.h"
#include "machine/setting.h"
#include "report/report.h"
#include "sched/trace.h"

namespace slackline::cli {

/// A run as a report shows it, with why its floats are no promise. `trace` must outlive the answer.
report::ReportedRun reported_run(std::string label, const sched::Trace& trace,
                                 const machine::Setting& setting);

/// What came of each delayed operation, by the prediction that decides.
std::vector<report::ValidatedDelay> validated_delays(const ValidationReport& validation);

/// Bytes an operation, with all that a page is made from. Measured: 640.
inline constexpr std::uint64_t kMemoryOfReportedOp = 750;
/// Writes the page there, if there is a place. Throws what report_page() and write_file() do.
void write_report_file(const std::optional<std::string>& file, const report::Report& report,
                       Console& console);

/// The page of an answer: its document. `say` says the answer.
void write_answer_page(const std::optional<std::string>& file, const Subject& subject,
                       const std::function<void(Answer&)>& say, Console& console);

}  // namespace slackline::cli
