#include "cli/trace_page.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "cli/human.h"
#include "cli/report_file.h"
#include "cli/traced_schedule.h"
#include "engines/network.h"
#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "machine/setting.h"
#include "machine/timeline_nics.h"
#include "sched/file.h"

namespace slackline::cli {
namespace {

// What a trace says of its run. That of a real run names no platform.
struct Traced {
  explicit Traced(const NamedTrace& named)
      : file(named.file),
        trace(named.trace),
        platform(trace.platform.empty() ? machine::load_platform(machine::kDefaultPlatform)
                                        : machine::parse_platform_spec(trace.platform)),
        delays(machine::delay_plan_from_toml(trace.delays, file + ": delays")) {
    if (trace.platform.empty()) platform.node = machine::node_of_trace(trace);
  }
  std::string file;
  const sched::Trace& trace;
  machine::Platform platform;
  machine::DelayPlan delays;
};

}  // namespace

void require_same_schedule(const NamedTrace& first, const NamedTrace& second) {
  if (first.trace.schedule == second.trace.schedule) return;
  throw InputError(fmt::format("{}: of schedule {}; expected one of schedule {}, as {} is",
                               second.file, to_string(second.trace.schedule),
                               to_string(first.trace.schedule), first.file));
}

std::string page_of_traces(const LoadedSchedule& loaded, std::span<const NamedTrace> traces) {
  const std::vector<Traced> runs(traces.begin(), traces.end());
  report::Report report{loaded.name, loaded.schedule, {}, {}, {}, {}};
  for (const Traced& run : runs) {
    const machine::Setting setting(loaded.schedule, run.platform,
                                   engines::wiring_of(run.platform, loaded.schedule), run.delays);
    report.runs.push_back(reported_run(run.file, run.trace, setting));
  }
  return report::report_page(report);
}

void TracePage::declare(Arguments& arguments) {
  arguments.positional("RUN", first_, "a trace, as `simulate --trace` and `run --trace` write");
  arguments.positional("SECOND", second_, "another of the same schedule, to stand beside it",
                       false);
  arguments.option("-s,--schedule", "SCHEDULE", schedule_,
                   "the schedule that ran (default: what the trace says it was made from)");
  memory_.declare(arguments);
}

TracePage::Made TracePage::make(Console& console) const {
  console.phase("reading");
  const sched::Trace first = sched::load_trace(first_, memory_.limit());
  std::vector<NamedTrace> traces = {{first_, first}};
  std::optional<sched::Trace> second;
  if (!second_.empty()) {
    second = sched::load_trace(second_, memory_.limit());
    traces.push_back({second_, *second});
    require_same_schedule(traces[0], traces[1]);
  }
  const LoadedSchedule loaded = schedule_of(first, first_, schedule_, memory_, console);
  console.phase("analysing");
  return {loaded.name, to_string(loaded.schedule.digest()), traces.size(),
          page_of_traces(loaded, traces)};
}

Subject TracePage::Made::subject(const std::string& file) const {
  return {fmt::format("{}: {}", file, human_bytes(html.size())), digest};
}

void TracePage::Made::add_to(Answer& answer) const {
  answer.set("schedule", schedule);
  answer.set("runs", runs);
  answer.set("file_bytes", html.size());
}

}  // namespace slackline::cli
