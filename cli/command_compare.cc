#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>

#include "analysis/advice/compare.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/comparison_report.h"
#include "cli/memory_option.h"
#include "cli/output_file.h"
#include "cli/share_option.h"
#include "cli/trace_page.h"
#include "cli/traced_schedule.h"
#include "sched/export/timeline_chrome.h"
#include "sched/file.h"
#include "sched/trace_file.h"

namespace slackline::cli {
namespace {

class Compare : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("FIRST", first_, "a trace, as `simulate --trace` writes");
    arguments.positional("SECOND", second_, "another of the same schedule");
    arguments.option("-s,--schedule", "SCHEDULE", schedule_,
                     "the schedule that ran (default: what the first says it was made from)");
    arguments.option("--ops", "N|all", ops_,
                     "how many of the operations that differ most to show (default: 10)");
    arguments.option("--within", "SHARE", within_,
                     "end with 1 if the makespans differ by more than that, as 5%");
    arguments.file("--chrome", chrome_file_, "write both there as one timeline for Perfetto");
    arguments.file("--report", report_file_, "write both there as a page for a browser");
    arguments.flag("--all", reader_.all, "every rank");
    memory_.declare(arguments);
    arguments.flag("--json", reader_.json, "print one JSON document");
    arguments.example("predicted.trace measured.trace --within 10% --chrome both.json");
  }

  int run(Console& console) override {
    ComparisonReport::Options options;
    if (ops_ == "all") {
      options.ops_shown = std::numeric_limits<std::uint64_t>::max();
    } else if (ops_) {
      options.ops_shown = sched::parse_count(*ops_, "--ops", 0, 1u << 31);
    }
    if (within_) options.within = parse_share(*within_, "--within", "the first makespan");
    const sched::MemoryLimit memory = memory_.limit();
    console.phase("reading");
    const sched::Trace first_trace = sched::load_trace(first_, memory);
    const sched::Trace second_trace = sched::load_trace(second_, memory);
    const std::array<NamedTrace, 2> traces = {{{first_, first_trace}, {second_, second_trace}}};
    const auto& [first, second] = traces;
    require_same_schedule(first, second);
    const LoadedSchedule loaded = schedule_of(first.trace, first_, schedule_, memory_, console);
    console.phase("comparing");
    const analysis::Comparison found =
        analysis::compare(loaded.schedule, first.trace, second.trace);
    const ComparisonReport report{loaded, first, second, found, options};
    if (chrome_file_) {
      const std::array<sched::LabelledTrace, 2> both = {
          {{"first: " + first.trace.engine, first.trace},
           {"second: " + second.trace.engine, second.trace}}};
      write_output_file(*chrome_file_, sched::write_chrome_overlay(loaded.schedule, both));
    }
    if (report_file_) {
      console.phase("writing");
      write_output_file(*report_file_, page_of_traces(loaded, traces));
    }
    Answer answer(reader_, subject_of(loaded));
    report.say(answer);
    console.print(answer.text());
    return report.ok() ? 0 : 1;
  }

 private:
  std::string first_, second_;
  MemoryOption memory_;
  std::optional<std::string> schedule_, ops_, within_, chrome_file_, report_file_;
  Reader reader_;
};

}  // namespace

std::unique_ptr<Command> make_compare() { return std::make_unique<Compare>(); }

}  // namespace slackline::cli
