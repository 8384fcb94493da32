#include "report/report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/xml_text.h"
#include "report/document.h"
#include "report/page_parts.h"
#include "report/script_json.h"
#include "report/sections.h"
#include "sched/export/timeline.h"

namespace slackline::report {
namespace {

// What a page is given. A new section is one line here.
constexpr Section kSections[] = {add_schedule, add_runs, add_links, add_samples, add_validation};

// The version of what the page is given, for whoever reads it out of one.
constexpr int kFormat = 1;

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

std::string_view coding_name(Coding coding) {
  return coding == Coding::kValues ? "values" : "differences";
}

// Appends the template with what stands for each `{{NAME}}`.
void fill(std::string& out, std::string_view html,
          const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  while (true) {
    const std::size_t begin = html.find("{{");
    out += html.substr(0, begin);
    if (begin == std::string_view::npos) return;
    const std::size_t end = html.find("}}", begin);
    const std::string_view key = html.substr(begin + 2, end - begin - 2);
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    out += found->second;
    html.remove_prefix(end + 2);
  }
}

}  // namespace

std::string report_page(const Report& report) {
  for (const ReportedRun& run : report.runs) sched::require_same(report.schedule, run.trace);
  const Ticks ticks(most_s(report));
  Document document;
  document.facts["format"] = kFormat;
  document.facts["tick_s"] = ticks.tick_s();
  for (const Section section : kSections) section(report, ticks, document);

  std::string data;
  for (const Column& column : document.columns.all()) {
    document.facts["columns"][column.name] = {{"count", column.count},
                                              {"planes", column.planes},
                                              {"coding", coding_name(column.coding)},
                                              {"least", column.least},
                                              {"most", column.most}};
    data += "<script type=\"text/plain\" data-column=\"" + column.name + "\">" + column.base64 +
            "</script>\n";
  }
  const PageParts parts = page_parts();
  const std::string title = sched::xml_text(report.name);
  const std::string facts = script_json(document.facts);
  std::string page;
  page.reserve(parts.html.size() + parts.style.size() + parts.script.size() + facts.size() +
               data.size() + 2 * title.size());
  fill(page, parts.html,
       {{"title", title},
        {"style_hash", parts.style_hash},
        {"script_hash", parts.script_hash},
        {"style", parts.style},
        {"script", parts.script},
        {"facts", facts},
        {"columns", data}});
  return page;
}

}  // namespace slackline::report
