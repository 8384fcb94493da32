#include "report/report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/document.h"
#include "report/page_text.h"
#include "report/sections.h"
#include "sched/export/timeline.h"

namespace slackline::report {
namespace {

// What a page is given. A new section is one line here.
constexpr Section kSections[] = {add_schedule, add_runs, add_links, add_samples, add_validation};

// The latest time that the report speaks of.
double most_s(const Report& report) {
  double most = 0;
  const auto look = [&](double time_s) {
    if (std::isfinite(time_s)) most = std::max(most, std::abs(time_s));
  };
  for (const ReportedRun& run : report.runs) {
    for (const sched::OpTimes& t : run.trace.ops) {
      for (const double time_s : {t.ready_s, t.issued_s, t.wire_s, t.done_s}) look(time_s);
    }
  }
  for (const double sample_s : report.samples_s) look(sample_s);
  for (const ValidatedDelay& each : report.validated) {
    for (const double time_s : {each.delay_s, each.predicted_s, each.measured_s}) look(time_s);
  }
  return most;
}

}  // namespace

std::string report_page(const Report& report) {
  for (const ReportedRun& run : report.runs) sched::require_same(report.schedule, run.trace);
  const Ticks ticks(most_s(report));
  Document document;
  document.facts["tick_s"] = ticks.tick_s();
  for (const Section section : kSections) section(report, ticks, document);

  return page_text(report.name, std::move(document));
}

}  // namespace slackline::report
