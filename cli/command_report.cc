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
#include "cli/output_file.h"
#include "cli/report_file.h"
#include "cli/slack_run.h"
#include "cli/traced_schedule.h"

namespace slackline::cli {
namespace {

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
    std::vector<TracedRun> traced;
    traced.emplace_back(first_, memory_.limit());
    if (!second_.empty()) {
      traced.emplace_back(second_, memory_.limit());
      require_same_schedule(traced[0], traced[1]);
    }
    const LoadedSchedule loaded = schedule_of(traced[0].trace, first_, schedule_, memory_, console);
    console.phase("analysing");
    std::vector<SlackRun> runs;
    for (const TracedRun& each : traced) runs.push_back(each.of(loaded.schedule));
    report::Report report{loaded.name, loaded.schedule, {}, {}, {}, {}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      report.runs.push_back(reported_run(traced[i].path, loaded.schedule, runs[i]));
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
    document.set("runs", std::uint64_t{runs.size()});
    document.set("file_bytes", std::uint64_t{page.size()});
    deliver(output_, page, "", &document, console);
    return 0;
  }

 private:
  static void require_same_schedule(const TracedRun& first, const TracedRun& second) {
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
