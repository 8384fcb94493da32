#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/output_file.h"
#include "cli/schedule_source.h"
#include "cli/table.h"
#include "machine/static_forms.h"
#include "sched/export/exporter.h"
#include "sched/export/json.h"
#include "sched/file.h"
#include "sched/text.h"
#include "sched/trace_file.h"

namespace slackline::cli {
namespace {

class Compile : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kAlways);
    arguments.output("-o,--output", output_,
                     "where the schedule goes; - for standard output (default: nowhere)");
    arguments.option("--unroll", "SEED", unroll_,
                     "write out its regions, as a run with this seed decides");
    arguments.option("--realise", "TRACE", realise_,
                     "write out its regions, as the run of this trace decided");
    arguments.option("--format", "text|json", format_, "the file's form (default: text)");
    arguments.flag("--json", json_, "print one JSON document");
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
    if (!json_) {
      if (output_) {
        deliver(output_, contents, summary(loaded), nullptr, console);
      } else {
        console.print(summary(loaded));
      }
      return 0;
    }
    JsonDocument document(to_string(loaded.schedule.digest()), loaded.proved);
    document.set("schedule", loaded.name);
    document.set("ranks", loaded.schedule.rank_count());
    document.set("blocks", loaded.blocks);
    document.set("steps", loaded.schedule.step_count());
    document.set("ops", loaded.schedule.op_count());
    document.set("bytes", loaded.schedule.message_bytes());
    if (output_) {
      document.set("format", format);
      deliver(output_, contents, "", &document, console);
    } else {
      document.set_null("file");
      console.print(document.text());
    }
    return 0;
  }

 private:
  // Proved once it is static: what a run decides no proof can foresee.
  LoadedSchedule load(Console& console) const {
    if (!unroll_ && !realise_) return source_.load_proved(console);
    if (unroll_ && realise_) {
      throw InputError("--unroll stands beside --realise; expected one of them");
    }
    LoadedSchedule loaded = source_.load(console);
    loaded.schedule =
        unroll_ ? machine::unroll(loaded.schedule,
                                  sched::parse_count(*unroll_, "--unroll", 0, ~std::uint64_t{0}),
                                  source_.memory().limit())
                      .schedule
                : machine::realise(loaded.schedule,
                                   sched::load_trace(*realise_, source_.memory().limit()))
                      .schedule;
    source_.prove(loaded, console);
    return loaded;
  }

  std::string summary(const LoadedSchedule& loaded) const {
    const sched::Schedule& schedule = loaded.schedule;
    const std::uint64_t bytes = schedule.message_bytes();
    Table table({Align::kLeft, Align::kLeft});
    table.add({"ranks", fmt::to_string(schedule.rank_count())});
    table.add({"blocks", loaded.blocks ? fmt::to_string(*loaded.blocks) : "–"});
    table.add({"steps", fmt::to_string(schedule.step_count())});
    table.add({"ops", fmt::to_string(schedule.op_count())});
    table.add({"bytes", bytes < 1024 ? fmt::to_string(bytes)
                                     : fmt::format("{} ({})", bytes, human_bytes(bytes))});
    table.add({"digest", to_string(schedule.digest())});
    table.add({"proved", loaded.proved ? "yes" : "no"});
    if (output_) table.add({"file", *output_});
    return loaded.name + '\n' + table.text("  ");
  }

  ScheduleSource source_;
  std::optional<std::string> output_;
  std::optional<std::string> format_;
  std::optional<std::string> unroll_;
  std::optional<std::string> realise_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_compile() { return std::make_unique<Compile>(); }

}  // namespace slackline::cli
