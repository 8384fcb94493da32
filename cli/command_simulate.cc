#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/fluid_engine.h"
#include "base/error.h"
#include "cli/bare_run.h"
#include "cli/commands.h"
#include "cli/congestion_report.h"
#include "cli/contents.h"
#include "cli/cores.h"
#include "cli/cpu_report.h"
#include "cli/distribution_files.h"
#include "cli/fluid_files.h"
#include "cli/frozen_run.h"
#include "cli/output_file.h"
#include "cli/report_file.h"
#include "cli/samples_report.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
#include "cli/simulation_report.h"
#include "cli/stream_run.h"
#include "cli/unused_seed.h"
#include "cli/workload_report.h"
#include "machine/randomness.h"
#include "machine/run/adaptive_ways.h"
#include "machine/without_effect.h"
#include "sched/trace_file.h"

namespace slackline::cli {
namespace {

// Bytes an operation, with a trace that is written. Measured: 440.
constexpr std::uint64_t kMemoryOfTracedOp = 500;
constexpr std::uint32_t kMostSamples = 1u << 24;

class Simulate : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments, false);
    workload_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand);
    options_.declare(arguments);
    arguments.number("--samples", "N", samples_, "runs that differ in their noise (default: 1)", 1,
                     kMostSamples);
    declare_jobs(arguments, jobs_, "samples run at a time (default: all cores)");
    distribution_.declare(arguments);
    arguments.flag("--approximate", approximate_,
                   "with --engine analytic: keep runs that noise has put slightly out of order");
    arguments.output("--trace", trace_file_, "write the times of every operation there");
    arguments.output("--links", link_file_, "write there what passed each link, and when (CSV)");
    fluid_files_.declare(arguments);
    arguments.file("--report", report_file_, "write the run there as a page for a browser");
    arguments.flag("--cpu", cpu_, "how busy each rank's processor was, and with what");
    reader_.declare(arguments, "every rank and link, not the first few");
    arguments.example("binomial-pipeline:ranks=16,bytes=256MiB,block=1MiB --platform fractus");
    arguments.example("pipeline.sched -p star:rate=40Gbps,latency=2us --delay op=17,by=100us");
    arguments.example("--workload replicas.toml --platform fractus --messages latencies.csv");
  }

  int run(Console& console) override {
    workload_.check(source_, reader_.json);
    check_outputs();
    const RunSetting setting = options_.resolve(console);
    source_.require_rails(setting.platform.node.rails);
    const std::uint32_t samples = samples_.value_or(1);
    const std::uint32_t jobs = jobs_of(jobs_);
    if (jobs_ && !samples_) {
      throw InputError("--jobs without --samples: there is one run; expected both");
    }
    if (samples == 1 && !distribution_.given().empty()) {
      throw InputError(
          fmt::format("{} without --samples: one run has no distribution; expected both",
                      distribution_.given()));
    }
    const bool has_queues =
        setting.engine->name == analysis::kFluidEngine.name && setting.platform.congestion.any();
    fluid_files_.check(has_queues);
    if (samples > 1 && cpu_) {
      throw InputError(fmt::format(
          "--samples {} with --cpu: expected one of them; a sample has the seed of the first plus "
          "its number, and can be run alone",
          samples));
    }
    if (samples > 1 &&
        (trace_file_ || link_file_ || workload_.message_file() || !fluid_files_.given().empty())) {
      throw InputError(
          fmt::format("--samples {} with {}: expected one of them; a sample has the seed of the "
                      "first plus its number, and can be run alone",
                      samples,
                      trace_file_                     ? "--trace"
                      : link_file_                    ? "--links"
                      : !fluid_files_.given().empty() ? fluid_files_.given()
                                                      : "--messages"));
    }
    if (const auto code = run_streamed(setting, {samples, jobs, {}}, console)) return *code;
    if (trace_file_) source_.takes(kMemoryOfTracedOp);
    if (report_file_) source_.takes(kMemoryOfReportedOp);
    const LoadedSchedule loaded = workload_.given() ? workload_.load(source_, setting.seed, console)
                                                    : source_.load_proved(console);
    const bool drawn = machine::draws(setting.delays, loaded.schedule);
    machine::require_draws(samples, drawn, "--samples");
    if (!workload_.given()) note_unused_seed(setting.seed, drawn, console);
    return samples > 1 ? run_samples(loaded, setting, {samples, jobs, {}}, console)
                       : run_once(loaded, setting, console);
  }

 private:
  // Each file has a place of its own, to which one can write.
  void check_outputs() const {
    std::vector<std::pair<std::string_view, std::optional<std::string>>> outputs = {
        {"--trace", trace_file_},         {"--links", link_file_},
        {"--report", report_file_},       {"--csv", distribution_.csv()},
        {"--plot", distribution_.plot()}, {"--messages", workload_.message_file()}};
    for (const auto& output : fluid_files_.files()) outputs.push_back(output);
    for (const auto& [option, file] : outputs) {
      if (!file) continue;
      if (reader_.json && *file == "-") {
        throw InputError(fmt::format(
            "{} -: with --json the document is alone on standard output; expected a file", option));
      }
      for (const auto& [other, other_file] : outputs) {
        if (option == other) break;
        if (file != other_file) continue;
        throw InputError(fmt::format("{} and {} both go to {}; expected a place for each", other,
                                     option, *file));
      }
    }
  }

  // Beside what its result says.
  bool wants_trace() const {
    return trace_file_ || link_file_ || report_file_ || cpu_ || workload_.given() ||
           !fluid_files_.given().empty();
  }

  int run_once(const LoadedSchedule& loaded, const RunSetting& setting, Console& console) const {
    const SettledRun settled(setting, loaded.schedule, console);
    if (!wants_trace() && has_bare_result(settled, loaded)) {
      const SimulationResult result = bare_result(settled, console);
      Answer answer(reader_, subject_of(loaded));
      answer_simulation(answer, {setting, std::string(settled.engine().name), false, result, {}});
      Contents().add_to(answer);
      console.print(answer.text());
      return 0;
    }
    if (link_file_) machine::require_fixed_ways(settled.setting().platform, "--links");
    std::vector<machine::LaneUse> lanes;
    if (cpu_) {
      require_cpu_use(settled.engine(), settled.setting());
      lanes = lanes_to_add_up(loaded.schedule);
    }
    analysis::FluidRun fluid;
    analysis::FluidSeries series = fluid_files_.series(settled.setting());
    const bool has_queues =
        settled.engine().name == analysis::kFluidEngine.name && setting.platform.congestion.any();
    if (has_queues) {
      console.phase("simulating");
      const bool is_told = !fluid_files_.given().empty();
      fluid = analysis::run_fluid_with_links(settled.setting().adding_up(lanes),
                                             is_told ? &series : nullptr);
    }
    sched::Trace trace = has_queues ? std::move(fluid.trace) : settled.run(console, lanes);
    trace.title = loaded.title;
    const SimulationResult result = result_of(settled.setting(), trace);
    if (link_file_) {
      console.phase("writing");
      deliver(link_file_, link_csv(settled.setting(), trace), console);
    }
    fluid_files_.write(loaded.name, settled.setting(), series, result.makespan_s, console);
    workload_.write_messages(loaded.schedule, trace, console);
    if (trace_file_) {
      console.phase("writing");
      deliver(trace_file_, sched::write_trace(trace), console);
    }
    if (report_file_) report(loaded, settled.setting(), trace, nullptr, console);
    if (link_file_ == "-" || trace_file_ == "-" || workload_.message_file() == "-") return 0;
    const Contents contents(loaded, trace);
    Answer answer(reader_, subject_of(loaded));
    answer_simulation(answer, {setting, trace.engine, trace.contended, result, trace_file_});
    if (has_queues) {
      add_congestion(answer, settled.setting().wiring, fluid.links, result.makespan_s);
    }
    if (cpu_) add_cpu_use(answer, cpu_use(settled.setting(), trace, std::move(lanes)));
    workload_.add_to(answer, loaded.schedule, trace);
    contents.add_to(answer);
    console.print(answer.text());
    return result.failed || !contents.ok() ? 1 : 0;
  }

  // The page of a run, and of the samples of which it is the first.
  void report(const LoadedSchedule& loaded, const machine::Setting& setting,
              const sched::Trace& trace, const machine::Samples* samples, Console& console) const {
    report::Report page{loaded.name, loaded.schedule, {}, {}, {}, {}};
    page.runs.push_back(
        reported_run(samples != nullptr ? "the first sample" : "simulated", trace, setting));
    if (samples != nullptr) {
      page.samples_s = samples->makespan_s;
      page.samples_of = "runs that differ in their noise";
    }
    write_report_file(report_file_, page, console);
  }

  int run_samples(const LoadedSchedule& loaded, const RunSetting& setting, machine::SampleRuns runs,
                  Console& console) const {
    runs.progress = [&](std::uint32_t done) { console.progress("simulating", done, runs.samples); };
    const SettledRun settled(setting, loaded.schedule, console);
    const machine::Samples samples = settled.samples(runs, console);
    if (report_file_) {
      report(loaded, settled.setting(), settled.run(console), &samples, console);
    }
    distribution_.write(loaded.name, samples, console);
    SamplesContext context;
    if (!settled.engine().shares_links) {
      context.link_left_out = shared_link_name(settled.setting());
    }
    machine::DelayPlan drawn_alike = setting.delays;
    drawn_alike.noise.clear();
    const machine::Setting alike = settled.setting().with(drawn_alike);
    context.without_effect =
        machine::without_effect(alike, std::numeric_limits<double>::infinity());
    Answer answer(reader_, subject_of(loaded));
    answer_samples(answer, setting, samples, context);
    console.print(answer.text());
    return std::all_of(samples.makespan_s.begin(), samples.makespan_s.end(),
                       [](double t) { return std::isfinite(t); })
               ? 0
               : 1;
  }

  // Where the analytic engine can do without the schedule and nothing else asks for it; nothing
  // where it cannot.
  std::optional<int> run_streamed(const RunSetting& setting, const machine::SampleRuns& runs,
                                  Console& console) const {
    const bool asked = setting.engine->name == "analytic" && !workload_.given() && !trace_file_ &&
                       !link_file_ && !report_file_ && !cpu_ && !source_.proof_wanted();
    const std::optional<sched::Spec> spec = asked ? source_.spec() : std::nullopt;
    const std::string why = !asked
                                ? "it goes with --engine analytic, and without --trace, --links, "
                                  "--report, --cpu, --workload and --prove"
                            : spec ? why_not_streamed(*spec, setting).value_or("")
                                   : "a file has no steps";
    if (approximate_ && !why.empty()) {
      throw InputError(
          fmt::format("--approximate: {}; expected a multicast that can be streamed", why));
    }
    if (!spec || !why.empty()) return std::nullopt;
    const bool drawn = machine::draws_noise(setting.delays);  // a multicast draws nothing else
    machine::require_draws(runs.samples, drawn, "--samples");
    if (runs.samples == 1) {
      console.phase("simulating");
      const auto stream = analysis::stream(
          *spec, setting.platform, setting.delays,
          [&](std::uint32_t done, std::uint32_t of) { console.progress("simulating", done, of); });
      if (!stream || (!stream->exact && !approximate_)) return std::nullopt;
      note_unused_seed(setting.seed, drawn, console);
      Answer answer(reader_, subject_of(*spec, stream->message_bytes));
      answer_simulation(answer, {setting, stream->exact ? "stream" : "stream, approximate", false,
                                 result_of(setting, *stream), std::nullopt});
      console.print(answer.text());
    } else {
      Answer answer(reader_, subject_of(*spec, spec->multicast.bytes));
      const StreamedSamples streamed = stream_samples(*spec, setting, approximate_, runs, console);
      distribution_.write(answer.subject().name, streamed.samples, console);
      answer_samples(answer, setting, streamed.samples, {streamed.approximation, std::nullopt, {}});
      console.print(answer.text());
    }
    return 0;
  }

  ScheduleSource source_;
  WorkloadSource workload_;
  SimulationOptions options_{"simgrid"};
  DistributionFiles distribution_;
  FluidFiles fluid_files_;
  std::optional<std::uint32_t> samples_, jobs_;
  std::optional<std::string> link_file_;
  std::optional<std::string> trace_file_;
  std::optional<std::string> report_file_;
  bool approximate_ = false;
  bool cpu_ = false;
  Reader reader_;
};

}  // namespace

std::unique_ptr<Command> make_simulate() { return std::make_unique<Simulate>(); }

}  // namespace slackline::cli
