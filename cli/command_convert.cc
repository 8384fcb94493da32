#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/named.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/memory_option.h"
#include "cli/output_file.h"
#include "cli/trace_nics.h"
#include "cli/traced_schedule.h"
#include "sched/export/timeline.h"
#include "sched/file.h"

namespace slackline::cli {
namespace {

std::vector<std::string_view> format_names() { return base::names_of(sched::timelines()); }

class Convert : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("TRACE", trace_, "what `simulate --trace` wrote");
    arguments.option("-t,--to", "FORMAT", format_,
                     fmt::format("one of {}", fmt::join(format_names(), ", ")));
    arguments.option("-s,--schedule", "SCHEDULE", schedule_,
                     "the schedule that ran (default: what the trace says it was made from)");
    arguments.output("-o,--output", output_, "where it goes (default: standard output)");
    memory_.declare(arguments);
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("pipeline.trace --to chrome -o pipeline.json");
  }

  int run(Console& console) override {
    if (!format_) {
      throw InputError(
          fmt::format("convert: no --to; expected one of {}", fmt::join(format_names(), ", ")));
    }
    const sched::TimelineEntry* timeline = sched::find_timeline(*format_);
    if (timeline == nullptr) {
      throw InputError("--to: " + sched::unknown_name("format", *format_, format_names()));
    }
    if (timeline->binary && json_ && is_standard_output(output_)) {
      throw InputError(
          fmt::format("--json: {} is no text; expected a file, --output", timeline->name));
    }
    console.phase("reading");
    const sched::Trace trace = sched::load_trace(trace_, memory_.limit());
    const LoadedSchedule loaded = schedule_of(trace, trace_, schedule_, memory_, console);
    console.phase("writing");
    const sched::TimelineNics nics = nics_of(loaded.schedule, trace);
    const auto pieces = [&](const sched::Sink& out) {
      timeline->write_to(loaded.schedule, trace, out, nics);
    };
    deliver_as(timeline->name, output_, pieces, subject_of(loaded), json_, console);
    return 0;
  }

 private:
  std::string trace_;
  MemoryOption memory_;
  std::optional<std::string> format_;
  std::optional<std::string> schedule_;
  std::optional<std::string> output_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_convert() { return std::make_unique<Convert>(); }

}  // namespace slackline::cli
