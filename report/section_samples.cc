// The makespans of many runs.
#include <cstdint>
#include <vector>

#include "report/document.h"
#include "report/sections.h"

namespace slackline::report {

void add_samples(const Report& report, const Ticks& ticks, Document& document) {
  if (report.samples_s.empty()) return;
  document.facts["samples"]["of"] = report.samples_of;
  std::vector<std::int64_t> makespans;
  for (const double sample_s : report.samples_s) makespans.push_back(ticks.of(sample_s));
  document.columns.add("sample.makespan", makespans);
}

}  // namespace slackline::report
