// `report`: a run as a page for a browser.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/memory_option.h"
#include "cli/network.h"
#include "cli/output_file.h"
#include "cli/report_file.h"
#include "cli/traced_schedule.h"
#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "machine/wiring.h"
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

class Report : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("RUN", first_, "a trace, as `simulate --trace` and `run --trace` write");
    arguments.positional("SECOND", second_, "another of the same schedule, to stand beside it",
                         false);
    arguments.option("-s,--schedule", "SCHEDULE", schedule_,
                     "the schedule that ran (default: what the trace says it was made from)");
    arguments.output("-o,--output", output_, "where the page goes (default: standard output)");
    memory_.declare(arguments);
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("pipeline.trace -o report.html");
    arguments.example("predicted.trace measured.trace -o both.html");
  }

  int run(Console& console) override {
    console.phase("reading");
    std::vector<ReadRun> read = {ReadRun(first_, memory_.limit())};
    if (!second_.empty()) {
      read.emplace_back(second_, memory_.limit());
      require_same_schedule(read[0], read[1]);
    }
    const LoadedSchedule loaded = schedule_of(read[0].trace, first_, schedule_, memory_, console);
    console.phase("analysing");
    std::vector<machine::Wiring> wirings;
    for (const ReadRun& each : read) wirings.push_back(wiring_of(each.platform, loaded.schedule));
    report::Report report{loaded.name, loaded.schedule, {}, {}, {}, {}};
    for (std::size_t i = 0; i < read.size(); ++i) {
      const ReadRun& run = read[i];
      report.runs.push_back(
          reported_run(run.path, loaded.schedule, run.trace, run.platform, wirings[i], run.delays));
    }
    const std::string page = report::report_page(report);
    if (!json_) {
      deliver(output_, page,
              fmt::format("{}: {}\n", output_.value_or("-"), human_bytes(page.size())), nullptr,
              console);
      return 0;
    }
    JsonDocument document(to_string(loaded.schedule.digest()), loaded.proved);
    document.set("schedule", loaded.name);
    document.set("runs", std::uint64_t{read.size()});
    document.set("file_bytes", std::uint64_t{page.size()});
    deliver(output_, page, "", &document, console);
    return 0;
  }

 private:
  static void require_same_schedule(const ReadRun& first, const ReadRun& second) {
    if (first.trace.schedule == second.trace.schedule) return;
    throw InputError(fmt::format("{}: of schedule {}; expected one of schedule {}, as {} is",
                                 second.path, to_string(second.trace.schedule),
                                 to_string(first.trace.schedule), first.path));
  }

  std::string first_, second_;
  MemoryOption memory_;
  std::optional<std::string> schedule_, output_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report() { return std::make_unique<Report>(); }

}  // namespace slackline::cli
