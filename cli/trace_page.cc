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
#include "sched/file.h"

namespace slackline::cli {
namespace {

// What a trace's file says. That of a real run names no platform.
struct ReadRun {
  ReadRun(const std::string& file, const sched::MemoryLimit& memory)
      : path(file),
        trace(sched::load_trace(file, memory)),
        platform(trace.platform.empty() ? machine::load_platform(machine::kDefaultPlatform)
                                        : machine::parse_platform_spec(trace.platform)),
        delays(machine::delay_plan_from_toml(trace.delays, file + ": delays")) {}
  std::string path;
  sched::Trace trace;
  machine::Platform platform;
  machine::DelayPlan delays;
};

void require_same_schedule(const ReadRun& first, const ReadRun& second) {
  if (first.trace.schedule == second.trace.schedule) return;
  throw InputError(fmt::format("{}: of schedule {}; expected one of schedule {}, as {} is",
                               second.path, to_string(second.trace.schedule),
                               to_string(first.trace.schedule), first.path));
}

}  // namespace

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
  std::vector<ReadRun> read = {ReadRun(first_, memory_.limit())};
  if (!second_.empty()) {
    read.emplace_back(second_, memory_.limit());
    require_same_schedule(read[0], read[1]);
  }
  const LoadedSchedule loaded = schedule_of(read[0].trace, first_, schedule_, memory_, console);
  console.phase("analysing");
  report::Report report{loaded.name, loaded.schedule, {}, {}, {}, {}};
  for (const ReadRun& run : read) {
    const machine::Setting setting(loaded.schedule, run.platform,
                                   engines::wiring_of(run.platform, loaded.schedule), run.delays);
    report.runs.push_back(reported_run(run.path, run.trace, setting));
  }
  return {loaded.name, to_string(loaded.schedule.digest()), read.size(),
          report::report_page(report)};
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
