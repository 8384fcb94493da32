#include <fmt/format.h>

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/slack/criticality.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/cores.h"
#include "cli/criticality_report.h"
#include "cli/draws.h"
#include "cli/frozen_run.h"
#include "cli/inline_delays.h"
#include "cli/output_file.h"
#include "cli/propagation_report.h"
#include "cli/real_costs.h"
#include "cli/report_file.h"
#include "cli/run_options.h"
#include "cli/schedule_source.h"
#include "cli/slack_report.h"
#include "cli/slack_run.h"
#include "cli/tolerance_report.h"
#include "engines/engines.h"
#include "sched/export/timeline_chrome.h"

namespace slackline::cli {
namespace {

// Bytes an operation, with the graph of a run and the paths through it. Measured: 580.
constexpr std::uint64_t kMemoryOfOp = 700;

class Slack : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand);
    options_.declare(arguments);
    arguments.option("--trace", "FILE", trace_file_,
                     "take this run, with its platform and its delays");
    arguments.option("--wire", "model|run", wire_,
                     "times on the wire: the machine model's, or as the run had them (default: "
                     "what explains the run)");
    arguments.option("--propagate", "op=N,by=TIME", propagate_,
                     "what a delay does to every rank; of=lane holds its whole lane; without op, "
                     "what it costs at each operation alone");
    arguments.repeatable("--tolerance", "FIGURE", tolerance_,
                         "how the makespan depends on a figure, and how much of it costs 1, 2 and "
                         "5 %: latency, overhead, completion, gap, links, link=NAME, rank=R, "
                         "slowdown=R, op=N");
    real_costs_.declare(arguments);
    arguments.option("--samples", "N", samples_,
                     "how often each operation is critical, over runs that differ in their noise");
    arguments.option("--jobs", "N", jobs_,
                     "samples or delays at a time (default: all cores; SimGrid's runs take turns)");
    arguments.output("--heat-map", heat_map_file_,
                     "draw there, as SVG, the least total float by rank and step");
    arguments.output("--chrome", chrome_file_,
                     "write there the run for Perfetto, with the floats of every operation");
    arguments.output("--report", report_file_, "write the run there as a page for a browser");
    arguments.flag("--all", all_, "every rank, link and operation, and the whole critical path");
    arguments.flag("--json", json_, "print one JSON document");
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
    }
    source_.takes(report_file_ ? kMemoryOfReportedOp : kMemoryOfOp);
    const LoadedSchedule loaded = source_.load_proved(console);
    if (!real_costs_.given().empty()) {
      setting->engine = &engines::engine_named("flow");
      note_unused_seed(setting->seed, draws(setting->delays, loaded.schedule), console);
      console.print(real_costs_.answer(loaded, *setting, jobs_of(jobs_), all_, json_, console));
      return 0;
    }
    if (samples_) {
      require_draws(sample_count_, draws(setting->delays, loaded.schedule));
      console.print(sampled(loaded, *setting, console));
      return 0;
    }
    if (setting) {
      note_unused_seed(setting->seed, draws(setting->delays, loaded.schedule), console);
    }
    std::optional<SettledRun> settled;
    if (setting) settled.emplace(*setting, loaded.schedule, console);
    const SlackRun run = traced ? traced->of(loaded.schedule) : run_now(*settled, console);
    console.phase("analysing");
    if (delay_) {
      const analysis::WireTimes wire = run.slack(wire_times_).wire_times;
      const analysis::Propagation propagation(run.setting, run.trace, wire);
      if (!delay_->op) {
        console.print(costs(loaded, run, propagation, console));
        return 0;
      }
      const machine::Engine* engine = traced ? traced->engine_of(run.setting) : &settled->engine();
      console.print(delayed(loaded, run, propagation, engine));
      return 0;
    }
    if (!figures_.empty()) {
      const FoundTolerances found = tolerances_of(run, run.slack(wire_times_), std::move(figures_));
      console.print(json_ ? tolerance_document(loaded, run, found)
                          : tolerance_report(loaded, run, found, all_));
      return 0;
    }
    const FoundSlack found{analysis::step_slack(loaded.schedule), run.slack(wire_times_),
                           analysis::fixed_order(run.setting, run.trace)};
    draw(loaded, run, found, console);
    console.print(json_ ? slack_document(loaded, run, found)
                        : slack_report(loaded, run, found, all_));
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
    if (wire_) {
      if (*wire_ != "model" && *wire_ != "run") {
        throw InputError(fmt::format("--wire: '{}'; expected model or run", *wire_));
      }
      wire_times_ = *wire_ == "run" ? analysis::WireTimes::kRun : analysis::WireTimes::kModel;
    }
    if (propagate_) delay_ = parse_propagated(*propagate_);
    figures_ = parse_tolerance(tolerance_);
    if (samples_) {
      sample_count_ =
          static_cast<std::uint32_t>(sched::parse_count(*samples_, "--samples", 1, 1u << 24));
    }
    if (jobs_) jobs_of(jobs_);  // says what is wrong with it, wherever it is used
    real_costs_.check();
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
    const char* several = nullptr;
    for (const auto& [given, option] : std::initializer_list<std::pair<bool, const char*>>{
             {!real.empty() && trace_file_, "--trace"},
             {!real.empty() && wire_, "--wire"},
             {!real.empty() && samples_, "--samples"},
             {!real.empty() && propagate_, "--propagate"},
             {!real.empty() && !tolerance_.empty(), "--tolerance"},
             {!real.empty() && heat_map_file_, "--heat-map"},
             {!real.empty() && chrome_file_, "--chrome"},
             {!real.empty() && report_file_, "--report"},
             {samples_ && trace_file_, "--trace"},
             {samples_ && wire_, "--wire"},
             {samples_ && propagate_, "--propagate"},
             {samples_ && !tolerance_.empty(), "--tolerance"},
             {propagate_ && !tolerance_.empty(), "--tolerance"},
             {!tolerance_.empty() && heat_map_file_, "--heat-map"},
             {!tolerance_.empty() && chrome_file_, "--chrome"},
             {!tolerance_.empty() && report_file_, "--report"},
             {samples_ && heat_map_file_, "--heat-map"},
             {samples_ && chrome_file_, "--chrome"},
             {samples_ && report_file_, "--report"},
             {propagate_ && heat_map_file_, "--heat-map"},
             {propagate_ && chrome_file_, "--chrome"},
             {propagate_ && report_file_, "--report"}}) {
      if (given && several == nullptr) several = option;
    }
    if (several != nullptr) {
      throw InputError(fmt::format("{} beside {}; expected one of them", several,
                                   !real.empty() ? real
                                   : samples_    ? "--samples"
                                   : propagate_  ? "--propagate"
                                                 : "--tolerance"));
    }
    check_report_file(report_file_);
    for (const auto& [file, option] :
         {std::pair{&heat_map_file_, "--heat-map"}, std::pair{&chrome_file_, "--chrome"}}) {
      if (*file != "-") continue;
      throw InputError(
          fmt::format("{} -: the answer is on standard output; expected a file", option));
    }
  }

  std::string sampled(const LoadedSchedule& loaded, const RunSetting& setting,
                      Console& console) const {
    // SimGrid's runs are processes of their own, which threads must not begin.
    const bool simgrid = setting.engine->name == "simgrid";
    machine::SampleRuns runs{sample_count_, simgrid ? 1 : jobs_of(jobs_), {}};
    runs.progress = [&](std::uint32_t done) { console.progress("simulating", done, runs.samples); };
    const SettledRun settled(setting, loaded.schedule, console);
    const analysis::Criticality found =
        analysis::criticality(settled.setting(), settled.engine(), runs);
    const auto no_promise = why_no_promise(settled.setting());
    return json_ ? criticality_document(loaded, setting, found, no_promise)
                 : criticality_report(loaded, setting, found, no_promise, all_);
  }

  std::string costs(const LoadedSchedule& loaded, const SlackRun& run,
                    const analysis::Propagation& propagation, Console& console) const {
    const DelayCosts costs =
        delay_costs(loaded, propagation, delay_->by, delay_->whole_lane, jobs_of(jobs_), console);
    return json_ ? delay_costs_document(loaded, run, costs)
                 : delay_costs_report(loaded, run, costs, all_);
  }

  std::string delayed(const LoadedSchedule& loaded, const SlackRun& run,
                      const analysis::Propagation& propagation,
                      const machine::Engine* engine) const {
    const machine::OpDelay delay{*delay_->op, delay_->by, delay_->whole_lane,
                                 sched::RankId::none()};
    machine::DelayPlan plan;
    plan.ops.push_back(delay);
    machine::validate(plan, loaded.schedule);
    const Propagated found = propagate(loaded, run, propagation, delay, engine);
    return json_ ? propagation_document(loaded, run, found)
                 : propagation_report(loaded, run, found, all_);
  }

  void draw(const LoadedSchedule& loaded, const SlackRun& run, const FoundSlack& found,
            Console& console) const {
    if (heat_map_file_ || chrome_file_) console.phase("drawing");
    if (heat_map_file_) {
      const bool no_promise = why_no_promise(run.setting).has_value();
      write_output_file(*heat_map_file_, slack_heat_map(loaded, found.timed, no_promise));
    }
    if (chrome_file_) {
      write_output_file(*chrome_file_, sched::write_chrome_timeline(loaded.schedule, run.trace,
                                                                    found.timed.total_float_s,
                                                                    found.timed.free_float_s));
    }
    if (report_file_) {
      report::Report page{loaded.name, loaded.schedule, {}, {}, {}, {}};
      page.runs.push_back(reported_run(trace_file_.value_or("simulated"), run.trace, run.setting));
      page.runs.back().wire = wire_times_;
      write_report_file(report_file_, page, console);
    }
  }

  ScheduleSource source_;
  RunOptions options_{"analytic"};
  RealCosts real_costs_;
  std::optional<std::string> trace_file_, wire_, propagate_, samples_, jobs_, heat_map_file_,
      chrome_file_, report_file_;
  std::vector<std::string> tolerance_;
  bool all_ = false;
  bool json_ = false;
  // As check() reads them.
  std::optional<analysis::WireTimes> wire_times_;
  std::optional<PropagatedDelay> delay_;
  std::vector<ToleranceFigure> figures_;
  std::uint32_t sample_count_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_slack() { return std::make_unique<Slack>(); }

}  // namespace slackline::cli
