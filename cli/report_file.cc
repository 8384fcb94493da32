#include "cli/report_file.h"

#include <cmath>
#include <utility>

#include "analysis/slack/validate.h"
#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/output_file.h"
#include "report/answer_page.h"

namespace slackline::cli {

report::ReportedRun reported_run(std::string label, const sched::Trace& trace,
                                 const machine::Setting& setting) {
  return {std::move(label), trace, setting, std::nullopt, why_no_promise(setting)};
}

std::vector<report::ValidatedDelay> validated_delays(const ValidationReport& validation) {
  std::vector<report::ValidatedDelay> delays;
  for (std::size_t i = 0; i < validation.validation.trials.size(); ++i) {
    const analysis::TrialResult& result = validation.validation.trials[i];
    const double predicted_s = validation.predictions.front().predicted_s(validation.validation, i);
    const double bound_s = validation.tolerance.bound_s(result, validation.validation.makespan_s);
    delays.push_back({result.trial.op, sched::seconds(result.trial.by), predicted_s, result.shift_s,
                      std::abs(result.shift_s - predicted_s) <= bound_s});
  }
  return delays;
}

void write_report_file(const std::optional<std::string>& file, const report::Report& report,
                       Console& console) {
  if (!file) return;
  console.phase("writing");
  write_output_file(*file, report::report_page(report));
}

void write_answer_page(const std::optional<std::string>& file, const Subject& subject,
                       const std::function<void(Answer&)>& say, Console& console) {
  if (!file) return;
  console.phase("writing");
  Answer answer({.json = true, .all = true}, subject);
  say(answer);
  write_output_file(*file, report::answer_page(subject.name, answer.json()->text()));
}

}  // namespace slackline::cli
