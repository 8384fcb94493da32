#include "cli/command_slack.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "analysis/step_slack.h"
#include "analysis/timed_slack.h"
#include "cli/float_summary.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/network.h"
#include "cli/run_options.h"
#include "cli/schedule_source.h"
#include "cli/table.h"
#include "sched/error.h"
#include "sched/file.h"
#include "sched/trace_file.h"
#include "sched/units.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kRanksShown = 8;
constexpr std::size_t kPathShown = 12;

// A run, and the machine and the delays that it had.
struct Run {
  machine::Platform platform;
  machine::DelayPlan delays;
  std::string engine;
  sched::Trace trace;
  std::string platform_shown;  // for people
};

Run run_of_file(const std::string& path) {
  Run run;
  run.trace = sched::read_trace(sched::read_file(path), path);
  run.platform = machine::parse_platform_spec(run.trace.platform);
  run.delays = machine::delay_plan_from_toml(run.trace.delays, path + ": delays");
  run.engine = run.trace.engine;
  run.platform_shown = "as in " + path;
  return run;
}

struct Found {
  analysis::StepSlack steps;
  analysis::TimedSlack timed;
};

class Slack : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand);
    options_.declare(arguments);
    arguments.option("--trace", "FILE", trace_file_,
                     "take this run, with its platform and its delays");
    arguments.flag("--all", all_, "every rank and the whole critical path");
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("binomial-pipeline:ranks=8,bytes=64MiB,block=1MiB --platform fractus");
    arguments.example("pipeline.sched --trace pipeline.trace --all");
  }

  int run(Console& console) override {
    if (trace_file_ && !options_.given().empty()) {
      throw InputError(
          fmt::format("{} stands beside --trace, whose run has its own; expected one "
                      "of them",
                      options_.given()));
    }
    std::optional<Run> run;
    std::optional<RunSetting> setting;
    if (trace_file_) {
      run = run_of_file(*trace_file_);
    } else {
      setting = options_.resolve(console);
    }
    const LoadedSchedule loaded = source_.load_proved(console);
    const machine::Wiring wiring =
        wiring_of(setting ? setting->platform : run->platform, loaded.schedule);
    if (setting) {
      run = Run{setting->platform, setting->delays, std::string(setting->engine->name),
                setting->run(loaded.schedule, wiring, console), setting->platform.name};
    }
    console.phase("analysing");
    const Found found{
        analysis::step_slack(loaded.schedule),
        analysis::timed_slack(loaded.schedule, run->platform, wiring, run->delays, run->trace)};
    console.print(json_ ? document(loaded, *run, found) : report(loaded, *run, found));
    return 0;
  }

 private:
  static std::string document(const LoadedSchedule& loaded, const Run& run, const Found& found) {
    const analysis::StepSlack& steps = found.steps;
    const analysis::TimedSlack& timed = found.timed;
    JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
    json.set("schedule", loaded.name);
    json.set("engine", run.engine);
    json.set("answered_by", run.trace.engine);
    json.set("contended", run.trace.contended);
    json.set("platform", run.platform.name);
    json.set("platform_spec", run.trace.platform);
    const bool any = steps.steady.sends != 0;
    json.set("average_step_slack", any ? std::optional(steps.steady.average()) : std::nullopt);
    json.set("average_step_slack_exact",
             any ? std::optional(exact_average(steps.steady)) : std::nullopt);
    json.set("first_steady_step", any ? std::optional(steps.first_steady) : std::nullopt);
    json.set("last_steady_step", any ? std::optional(steps.end_steady - 1) : std::nullopt);
    json.set("average_step_slack_of_all",
             steps.all.sends != 0 ? std::optional(steps.all.average()) : std::nullopt);
    json.set("smallest_step_slack",
             steps.all.sends != 0 ? std::optional(steps.smallest) : std::nullopt);
    json.set("makespan_s", timed.makespan_s);
    json.set("unexplained_s", timed.unexplained_s);
    std::vector<std::uint64_t> path;
    for (const sched::OpId id : timed.critical_path) path.push_back(id.value);
    json.set("critical_path", std::span<const std::uint64_t>(path));
    json.set("total_float_s", std::span<const double>(timed.total_float_s));
    json.set("free_float_s", std::span<const double>(timed.free_float_s));
    return json.text();
  }

  std::string report(const LoadedSchedule& loaded, const Run& run, const Found& found) const {
    std::string text = loaded.name + '\n' + step_lines(found.steps) + '\n';
    const analysis::TimedSlack& timed = found.timed;
    const FloatSummary total = summarise(timed.total_float_s);
    Table table({Align::kLeft, Align::kLeft});
    table.add({"platform", run.platform_shown});
    table.add({"engine", run.engine == run.trace.engine
                             ? run.engine
                             : fmt::format("{} ({})", run.engine, run.trace.engine)});
    table.add({"makespan", fmt::format("{} ({:.9g} s)", sched::human_seconds(timed.makespan_s),
                                       timed.makespan_s)});
    table.add(
        {"total float",
         fmt::format(
             "least {}, median {}, most {}; none at {} of {} ({})",
             sched::human_seconds(total.min_s), sched::human_seconds(total.median_s),
             sched::human_seconds(total.max_s), total.without, human_count(total.ops, "op"),
             human_share(static_cast<double>(total.without), static_cast<double>(total.ops)))});
    table.add({"digest", to_string(loaded.schedule.digest())});
    text += table.text("  ");
    if (run.trace.contended || timed.unexplained_s > 1e-9 * timed.makespan_s) {
      text += fmt::format(
          "  the order of this run does not explain {} of it (messages shared links, or the "
          "machine had delays of its own): floats are off by as much\n",
          sched::human_seconds(timed.unexplained_s));
    }
    if (loaded.schedule.op_count() == 0) return text;
    return text + '\n' + rank_table(loaded.schedule, timed) + '\n' +
           path_table(loaded.schedule, run.trace, timed);
  }

  static std::string step_lines(const analysis::StepSlack& steps) {
    if (steps.steady.sends == 0) return "  no step slack: no rank relays what it received\n";
    const std::string exact = exact_average(steps.steady);
    return fmt::format(
        "  average step slack {:.11g}{} over steady steps {}…{}\n"
        "  smallest step slack {}; average of every step {:.11g}\n",
        steps.steady.average(),
        exact.find('/') == std::string::npos ? "" : fmt::format(" ({})", exact), steps.first_steady,
        steps.end_steady - 1, steps.smallest, steps.all.average());
  }

  // The ranks whose operations have the least float, by its median.
  std::string rank_table(const sched::Schedule& schedule, const analysis::TimedSlack& timed) const {
    const std::vector<FloatSummary> ranks = summarise_by_rank(schedule, timed.total_float_s);
    std::vector<std::uint32_t> order;
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
      if (ranks[r].ops != 0) order.push_back(r);
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(ranks[a].median_s, ranks[a].max_s, a) <
             std::tuple(ranks[b].median_s, ranks[b].max_s, b);
    });
    const std::size_t rows = all_ ? order.size() : std::min(order.size(), kRanksShown);
    Table table(std::vector<Align>(6, Align::kRight));
    table.add({"rank", "ops", "without float", "least", "median", "most"});
    for (std::size_t i = 0; i < rows; ++i) {
      const FloatSummary& rank = ranks[order[i]];
      table.add({fmt::to_string(order[i]), fmt::to_string(rank.ops), fmt::to_string(rank.without),
                 sched::human_seconds(rank.min_s), sched::human_seconds(rank.median_s),
                 sched::human_seconds(rank.max_s)});
    }
    std::string text = "  ranks by the total float of their ops, least first:\n" + table.text("  ");
    if (rows < order.size()) {
      text += fmt::format("  … and {}; --all shows them\n",
                          human_count(order.size() - rows, "more rank"));
    }
    return text;
  }

  std::string path_table(const sched::Schedule& schedule, const sched::Trace& trace,
                         const analysis::TimedSlack& timed) const {
    const std::vector<sched::OpId>& path = timed.critical_path;
    const std::size_t half = kPathShown / 2;
    const bool whole = all_ || path.size() <= kPathShown + 1;
    Table table(
        {Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
    table.add({"op", "kind", "rank", "step", "issued", "done"});
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (!whole && i == half) {
        table.add({"…"});
        i = path.size() - half;
      }
      const sched::Op& op = schedule.op(path[i]);
      const sched::OpTimes& times = trace.ops[path[i].value];
      table.add({fmt::to_string(path[i].value), std::string(sched::name(op.kind)),
                 fmt::to_string(op.rank.value), fmt::to_string(op.step),
                 sched::human_seconds(times.issued_s), sched::human_seconds(times.done_s)});
    }
    return fmt::format("  critical path, {} {}{}:\n", path.size(),
                       path.size() == 1 ? "entry" : "entries",
                       whole ? "" : " (--all shows every one)") +
           table.text("  ");
  }

  ScheduleSource source_;
  RunOptions options_{"analytic"};
  std::optional<std::string> trace_file_;
  bool all_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_slack() { return std::make_unique<Slack>(); }

}  // namespace slackline::cli
