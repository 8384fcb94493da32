// What was predicted of delayed operations, and what was measured.
#include <cmath>
#include <cstdint>
#include <vector>

#include "report/document.h"
#include "report/sections.h"

namespace slackline::report {
namespace {

// Of a run that never ended, where a shift may be negative: no time has as many ticks.
constexpr std::int64_t kNeverShift = std::int64_t{1} << 51;

std::int64_t shift_of(double shift_s, const Ticks& ticks) {
  return std::isfinite(shift_s) ? ticks.of(shift_s) : kNeverShift;
}

}  // namespace

void add_validation(const Report& report, const Ticks& ticks, Document& document) {
  if (report.validated.empty()) return;
  std::vector<std::int64_t> op, delay, predicted, measured, within;
  for (const ValidatedDelay& each : report.validated) {
    op.push_back(each.op.value);
    delay.push_back(ticks.of(each.delay_s));
    predicted.push_back(shift_of(each.predicted_s, ticks));
    measured.push_back(shift_of(each.measured_s, ticks));
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
