#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "analysis/slack/criticality.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/cores.h"
#include "cli/criticality_report.h"
#include "cli/frozen_run.h"
#include "cli/inline_delays.h"
#include "cli/output_file.h"
#include "cli/propagation_report.h"
#include "cli/real_costs.h"
#include "cli/report_file.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
#include "cli/slack_report.h"
#include "cli/slack_run.h"
#include "cli/tolerance_report.h"
#include "cli/trace_nics.h"
#include "cli/unused_seed.h"
#include "engines/engines.h"
#include "machine/randomness.h"
#include "sched/export/timeline_chrome.h"

namespace slackline::cli {
namespace {

// Bytes an operation, with the graph of a run and the paths through it. Measured: 580.
constexpr std::uint64_t kMemoryOfOp = 700;
constexpr std::uint32_t kMostSamples = 1u << 24;

class Slack : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand);
    options_.declare(arguments);
    arguments.option("--trace", "FILE", trace_file_,
                     "take this run, with its platform and its delays");
    arguments.choice("--wire", "model|run", wire_,
                     "times on the wire: the machine model's, or as the run had them (default: "
                     "what explains the run)",
                     wire_times_named);
    arguments.option(
        "--propagate", "op=N,by=TIME", delay_,
        "what a delay does to every rank; of=lane holds its whole lane; without op, "
        "what it costs at each operation alone",
        [](const std::string& text, const std::string&) { return parse_propagated(text); });
    arguments.repeatable("--tolerance", "FIGURE", tolerance_,
                         "how the makespan depends on a figure, and how much of it costs 1, 2 and "
                         "5 %: latency, overhead, completion, gap, links, link=NAME, rank=R, "
                         "slowdown=R, op=N");
    real_costs_.declare(arguments);
    arguments.number("--samples", "N", samples_,
                     "how often each operation is critical, over runs that differ in their noise",
                     1, kMostSamples);
    declare_jobs(arguments, jobs_,
                 "samples or delays at a time (default: all cores; SimGrid's runs take turns)");
    arguments.drawing("--heat-map", heat_map_file_,
                      "draw there, as SVG, the least total float by rank and step");
    arguments.file("--chrome", chrome_file_,
                   "write there the run for Perfetto, with the floats of every operation");
    arguments.file("--report", report_file_, "write the run there as a page for a browser");
    reader_.declare(arguments, "every rank, link and operation, and the whole critical path");
    // Each of these is an answer of its own, and of them only the last two are of a trace's run.
    real_costs_.exclude(arguments, {"--trace", "--wire", "--samples", "--propagate", "--tolerance",
                                    "--heat-map", "--chrome"});
    arguments.excludes({"--samples"}, {"--trace", "--wire", "--propagate", "--tolerance",
                                       "--heat-map", "--chrome", "--report"});
    arguments.excludes({"--propagate"}, {"--tolerance", "--heat-map", "--chrome", "--report"});
    arguments.excludes({"--tolerance"}, {"--heat-map", "--chrome", "--report"});
    arguments.example("binomial-pipeline:ranks=8,bytes=64MiB,block=1MiB --platform fractus");
    arguments.example("pipeline.sched --trace pipeline.trace --all");
    arguments.example("pipeline.sched --propagate op=4,by=100us");
    arguments.example("pipeline.sched --tolerance latency,link=host-1.out,rank=3");
    arguments.example("pipeline.sched --price 10us -p two-level:racks=4,hosts=4");
  }

  int run(Console& console) override {
    check();
    std::optional<TracedRun> traced;
    std::optional<RunSetting> setting;
    if (trace_file_) {
      traced.emplace(*trace_file_, source_.memory().limit());
    } else {
      setting = options_.resolve(console);
      source_.require_rails(setting->platform.node.rails);
    }
    source_.takes(report_file_ ? kMemoryOfReportedOp : kMemoryOfOp);
    const LoadedSchedule loaded = source_.load_proved(console);
    Answer answer(reader_, subject_of(loaded));
    find(answer, loaded, setting, traced, console);
    console.print(answer.text());
    return 0;
  }

 private:
  // What does not go together, before any work.
  void check() {
    if (trace_file_ && !options_.given().empty()) {
      throw InputError(
          fmt::format("{} stands beside --trace, whose run has its own; expected one "
                      "of them",
                      options_.given()));
    }
    figures_ = parse_tolerance(tolerance_);
    const std::string_view real = real_costs_.given();
    if (jobs_ && !samples_ && real.empty() && !(delay_ && !delay_->op)) {
      throw InputError(
          "--jobs: there is one run; expected --samples, --propagate without op, --price, "
          "--slopes, --exact-float, --suggest or --what-if beside it");
    }
    if (!real.empty() && options_.engine() && *options_.engine() != "flow") {
      throw InputError(
          fmt::format("--engine {} beside {}, whose runs are the flow engine's; expected --engine "
                      "flow, or none",
                      *options_.engine(), real));
    }
  }

  void find(Answer& answer, const LoadedSchedule& loaded, std::optional<RunSetting>& setting,
            const std::optional<TracedRun>& traced, Console& console) {
    if (!real_costs_.given().empty()) {
      setting->engine = &engines::engine_named("flow");
      note_unused_seed(setting->seed, machine::draws(setting->delays, loaded.schedule), console);
      return real_costs_.find(answer, loaded, *setting, jobs_of(jobs_), report_file_, console);
    }
    if (samples_) {
      machine::require_draws(*samples_, machine::draws(setting->delays, loaded.schedule),
                             "--samples");
      return sample(answer, loaded, *setting, console);
    }
    if (setting) {
      note_unused_seed(setting->seed, machine::draws(setting->delays, loaded.schedule), console);
    }
    std::optional<SettledRun> settled;
    const SlackRun run =
        traced ? traced->of(loaded.schedule) : run_with_sharing(*setting, loaded, settled, console);
    console.phase("analysing");
    if (delay_) {
      const analysis::WireTimes wire = run.slack(wire_).wire_times;
      const analysis::Propagation propagation(run.setting, run.trace, wire);
      if (!delay_->op) {
        return answer_delay_costs(answer, run,
                                  delay_costs(loaded, propagation, delay_->by, delay_->whole_lane,
                                              jobs_of(jobs_), console));
      }
      const machine::Engine* engine = traced ? traced->engine_of(run.setting) : &settled->engine();
      return answer_propagation(answer, run, delayed(loaded, run, propagation, engine));
    }
    if (!figures_.empty()) {
      return answer_tolerances(answer, run,
                               tolerances_of(run, run.slack(wire_), std::move(figures_)));
    }
    const FoundSlack found{analysis::step_slack(loaded.schedule), run.slack(wire_),
                           analysis::fixed_order(run.setting, run.trace)};
    draw(loaded, run, found, console);
    answer_slack(answer, run, found);
  }

  // By the analytic engine unless another was asked for: it is exact where no messages share links.
  // Where they do, its time is too short, and the flow engine answers in its place.
  SlackRun run_with_sharing(RunSetting& setting, const LoadedSchedule& loaded,
                            std::optional<SettledRun>& settled, Console& console) const {
    settled.emplace(setting, loaded.schedule, console);
    {
      SlackRun run = run_now(*settled, console);
      const machine::Engine* const other =
          options_.engine_that_shares(run.setting, run.trace.contended);
      if (other == nullptr) return run;
      setting.engine = other;
    }
    settled.emplace(setting, loaded.schedule, console);
    return run_now(*settled, console);
  }

  void sample(Answer& answer, const LoadedSchedule& loaded, RunSetting setting,
              Console& console) const {
    std::optional<SettledRun> settled;
    if (options_.engine()) {
      settled.emplace(setting, loaded.schedule, console);
    } else {
      run_with_sharing(setting, loaded, settled, console);
    }
    // SimGrid's runs are processes of their own, which threads must not begin.
    const bool simgrid = setting.engine->name == "simgrid";
    machine::SampleRuns runs{*samples_, simgrid ? 1 : jobs_of(jobs_), {}};
    runs.progress = [&](std::uint32_t done) { console.progress("simulating", done, runs.samples); };
    answer_criticality(answer, loaded, setting,
                       analysis::criticality(settled->setting(), settled->engine(), runs),
                       why_no_promise(settled->setting()));
  }

  Propagated delayed(const LoadedSchedule& loaded, const SlackRun& run,
                     const analysis::Propagation& propagation,
                     const machine::Engine* engine) const {
    const machine::OpDelay delay{*delay_->op, delay_->by, delay_->whole_lane,
                                 sched::RankId::none()};
    machine::DelayPlan plan;
    plan.ops.push_back(delay);
    machine::validate(plan, loaded.schedule);
    return propagate(loaded, run, propagation, delay, engine);
  }

  void draw(const LoadedSchedule& loaded, const SlackRun& run, const FoundSlack& found,
            Console& console) const {
    if (heat_map_file_ || chrome_file_) console.phase("drawing");
    if (heat_map_file_) {
      const bool no_promise = why_no_promise(run.setting).has_value();
      write_output_file(*heat_map_file_, slack_heat_map(loaded, found.timed, no_promise));
    }
    if (chrome_file_) {
      write_output_file(*chrome_file_,
                        sched::write_chrome_timeline(
                            loaded.schedule, run.trace, found.timed.total_float_s,
                            found.timed.free_float_s, nics_of(loaded.schedule, run.trace)));
    }
    if (report_file_) {
      report::Report page{loaded.name, loaded.schedule, {}, {}, {}, {}};
      page.runs.push_back(reported_run(trace_file_.value_or("simulated"), run.trace, run.setting));
      page.runs.back().wire = wire_;
      write_report_file(report_file_, page, console);
    }
  }

  ScheduleSource source_;
  SimulationOptions options_{"analytic"};
  RealCosts real_costs_;
  std::optional<std::string> trace_file_, heat_map_file_, chrome_file_, report_file_;
  std::optional<analysis::WireTimes> wire_;
  std::optional<std::uint32_t> samples_, jobs_;
  std::vector<std::string> tolerance_;
  Reader reader_;
  std::optional<PropagatedDelay> delay_;
  std::vector<ToleranceFigure> figures_;  // as check() reads them
};

}  // namespace

std::unique_ptr<Command> make_slack() { return std::make_unique<Slack>(); }

}  // namespace slackline::cli
