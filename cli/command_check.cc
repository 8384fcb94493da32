#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/human.h"
#include "cli/json_output.h"
#include "cli/schedule_source.h"
#include "sched/verify.h"

namespace slackline::cli {
namespace {

using sched::Diagnostic;
using sched::Severity;

class Check : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    arguments.number("--limit", "N", limit_, "stop after so many defects (default: 100)", 1,
                     1u << 30);
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("pipeline.sched");
  }

  int run(Console& console) override {
    sched::VerifyOptions options;
    options.max_diagnostics = limit_.value_or(options.max_diagnostics);
    options.memory = source_.memory().limit();
    const LoadedSchedule loaded = source_.load(console);
    console.phase("proving");
    const sched::Diagnostics found = sched::verify(loaded.schedule, options);
    const bool ok = !sched::has_errors(found);
    const bool ended_by_limit = found.size() >= options.max_diagnostics;
    if (!json_) {
      console.print(lines(loaded, found, ok, ended_by_limit));
      return ok ? 0 : 1;
    }
    JsonOutput json(to_string(loaded.schedule.digest()), ok);
    json.set("schedule", loaded.name);
    json.set("ok", ok);
    json.set("ended_by_limit", ended_by_limit);
    json.list("diagnostics", found, [&](const Diagnostic& d) {
      json.set("code", sched::name(d.code));
      json.set("severity", d.severity == Severity::kError ? "error" : "warning");
      json.set("op", d.op.valid() ? std::optional(d.op.value) : std::nullopt);
      json.set("message", d.message);
    });
    console.print(json.text());
    return ok ? 0 : 1;
  }

 private:
  static std::string lines(const LoadedSchedule& loaded, const sched::Diagnostics& found, bool ok,
                           bool ended_by_limit) {
    std::string text;
    for (const Diagnostic& d : found) {
      text += fmt::format("{}: {}{}\n", sched::name(d.code), d.message,
                          d.severity == Severity::kWarning ? " (warning)" : "");
    }
    const auto warnings =
        static_cast<std::size_t>(std::count_if(found.begin(), found.end(), [](const Diagnostic& d) {
          return d.severity == Severity::kWarning;
        }));
    const std::size_t errors = found.size() - warnings;
    const std::string counts =
        fmt::format("{} and {}{}", human_count(errors, "error"), human_count(warnings, "warning"),
                    ended_by_limit ? " before --limit ended the search" : "");
    if (ok) {
      text += fmt::format("proved {}, {}, digest {}{}\n",
                          human_count(loaded.schedule.rank_count(), "rank"),
                          human_count(loaded.schedule.op_count(), "op"),
                          to_string(loaded.schedule.digest()), found.empty() ? "" : ", " + counts);
    } else {
      text += counts + '\n';
    }
    return text;
  }

  ScheduleSource source_;
  std::optional<std::uint32_t> limit_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_check() { return std::make_unique<Check>(); }

}  // namespace slackline::cli
