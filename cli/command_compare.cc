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
#include "cli/simulators_report.h"
#include "cli/trace_nics.h"
#include "cli/trace_page.h"
#include "cli/traced_schedule.h"
#include "machine/platform.h"
#include "sched/export/timeline_chrome.h"
#include "sched/file.h"

namespace slackline::cli {
namespace {

class Compare : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("FIRST", first_,
                         "a trace, as `simulate --trace` writes; with --with a schedule");
    arguments.positional("SECOND", second_, "another trace of the same schedule", false);
    arguments.option("--with", "NAME,…|all", with_,
                     "run the schedule on each of these engines, and on simulators of others");
    arguments.option(
        "-p,--platform", "PLATFORM", platform_,
        fmt::format("with --with: a preset's name, a TOML file, or TOPOLOGY:key=value,… "
                    "(default: {})",
                    machine::kDefaultPlatform));
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
    arguments.excludes({"--with"}, {"--schedule", "--ops", "--chrome", "--report", "--all"},
                       "that is of two traces");
    arguments.example("predicted.trace measured.trace --within 10% --chrome both.json");
    arguments.example("chain:ranks=8,bytes=16MiB --with all -p apt");
  }

  int run(Console& console) override {
    if (with_) return run_simulators(console);
    if (second_.empty()) {
      throw InputError("SECOND: none; expected another trace, or --with and what to ask");
    }
    if (platform_) {
      throw InputError("--platform without --with: traces know theirs; expected both");
    }
    return run_traces(console);
  }

 private:
  int run_simulators(Console& console) {
    if (!second_.empty()) {
      throw InputError(
          fmt::format("{}: beside --with nothing is read but a schedule; expected one", second_));
    }
    const std::vector<std::string> names = simulator_names(*with_);
    std::optional<double> within;
    if (within_) within = parse_share(*within_, "--within", "the first makespan");
    const machine::Platform platform =
        machine::load_platform(platform_ ? *platform_ : std::string(machine::kDefaultPlatform));
    ScheduleSource source;
    source.require(first_, memory_);
    const LoadedSchedule loaded = source.load_proved(console);
    const std::vector<SimulatorMakespan> said = ask_simulators(names, loaded, platform, console);
    Answer answer(reader_, subject_of(loaded));
    answer_simulators(answer, platform, said, within);
    console.print(answer.text());
    return !within || agree_within(said, *within) ? 0 : 1;
  }

  int run_traces(Console& console) {
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
          {{"first: " + first.trace.engine, first.trace, nics_of(loaded.schedule, first.trace)},
           {"second: " + second.trace.engine, second.trace,
            nics_of(loaded.schedule, second.trace)}}};
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

  std::string first_, second_;
  MemoryOption memory_;
  std::optional<std::string> with_, platform_, schedule_, ops_, within_, chrome_file_, report_file_;
  Reader reader_;
};

}  // namespace

std::unique_ptr<Command> make_compare() { return std::make_unique<Compare>(); }

}  // namespace slackline::cli
