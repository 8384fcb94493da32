// What was predicted of delayed operations, and what was measured.
#include <cstdint>
#include <vector>

#include "report/document.h"
#include "report/sections.h"

namespace slackline::report {

void add_validation(const Report& report, const Ticks& ticks, Document& document) {
  if (report.validated.empty()) return;
  std::vector<std::int64_t> op, delay, predicted, measured, within;
  for (const ValidatedDelay& each : report.validated) {
    op.push_back(each.op.value);
    delay.push_back(ticks.of(each.delay_s));
    predicted.push_back(ticks.of(each.predicted_s));
    measured.push_back(ticks.of(each.measured_s));
    within.push_back(each.within ? 1 : 0);
  }
  document.facts["validation"]["delays"] = report.validated.size();
  document.columns.add("validated.op", op, Coding::kDifferences);
  document.columns.add("validated.delay", delay);
  document.columns.add("validated.predicted", predicted);
  document.columns.add("validated.measured", measured);
  document.columns.add("validated.within", within);
}

}  // namespace slackline::report
