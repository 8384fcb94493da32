#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/human.h"
#include "cli/output_file.h"
#include "cli/schedule_source.h"
#include "machine/static_forms.h"
#include "sched/export/exporter.h"
#include "sched/export/json.h"
#include "sched/file.h"
#include "sched/text.h"

namespace slackline::cli {
namespace {

class Compile : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kAlways);
    arguments.output("-o,--output", output_,
                     "where the schedule goes; - for standard output (default: nowhere)");
    arguments.number("--unroll", "SEED", unroll_,
                     "write out its regions, as a run with this seed decides", 0);
    arguments.option("--realise", "TRACE", realise_,
                     "write out its regions, as the run of this trace decided");
    arguments.option("--format", "text|json", format_, "the file's form (default: text)");
    arguments.flag("--json", json_, "print one JSON document");
    arguments.excludes({"--unroll"}, {"--realise"});
    arguments.example("binomial-pipeline:ranks=16,bytes=256MiB,block=1MiB -o pipeline.sched");
  }

  int run(Console& console) override {
    const std::string format = format_.value_or("text");
    if (format != "text" && format != "json") {
      throw InputError(fmt::format("--format: '{}'; expected text or json", format));
    }
    if (format_ && !output_) {
      throw InputError("--format: the form of a file that is not written; expected -o beside it");
    }
    if (output_) source_.takes(sched::find_exporter(format)->memory_of_op);
    const LoadedSchedule loaded = load(console);
    std::string contents;
    if (output_) {
      console.phase("writing");
      contents = format == "json" ? sched::write_json(loaded.schedule)
                                  : sched::write_text(loaded.schedule);
    }
    Answer answer({json_, false}, subject_of(loaded));
    say(answer, loaded);
    if (output_) {
      answer.set("format", format);
      deliver(output_, contents, answer, console);
    } else {
      answer.set_null({"file"});
      console.print(answer.text());
    }
    return 0;
  }

 private:
  // Proved once it is static: what a run decides no proof can foresee.
  LoadedSchedule load(Console& console) const {
    if (!unroll_ && !realise_) return source_.load_proved(console);
    LoadedSchedule loaded = source_.load(console);
    loaded.schedule =
        unroll_ ? machine::unroll(loaded.schedule, *unroll_, source_.memory().limit()).schedule
                : machine::realise(loaded.schedule,
                                   sched::load_trace(*realise_, source_.memory().limit()))
                      .schedule;
    source_.prove(loaded, console);
    return loaded;
  }

  void say(Answer& answer, const LoadedSchedule& loaded) const {
    const sched::Schedule& schedule = loaded.schedule;
    const std::uint64_t bytes = schedule.message_bytes();
    answer.set("schedule", loaded.name);
    answer.both("ranks", "ranks", schedule.rank_count());
    answer.both("blocks", "blocks", loaded.blocks ? *loaded.blocks : Value().shown_as("–"));
    answer.both("steps", "steps", schedule.step_count());
    answer.both("ops", "ops", schedule.op_count());
    answer.set("bytes", bytes);
    answer.row("bytes", bytes < 1024 ? fmt::to_string(bytes)
                                     : fmt::format("{} ({})", bytes, human_bytes(bytes)));
    answer.digest_row();
    answer.row("proved", loaded.proved ? "yes" : "no");
    if (output_) answer.row("file", *output_);
  }

  ScheduleSource source_;
  std::optional<std::string> output_;
  std::optional<std::string> format_;
  std::optional<std::uint64_t> unroll_;
  std::optional<std::string> realise_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_compile() { return std::make_unique<Compile>(); }

}  // namespace slackline::cli
