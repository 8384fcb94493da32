#include "cli/command_simulate.h"

#include <fmt/format.h>
<<<<<<< HEAD
#include <sched.h>

#include <algorithm>
#include <cmath>
=======
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>
>>>>>>> 245402d (Stragglers, noise, link rates, failures and a seed on the command line)

#include "cli/network.h"
#include "cli/output_file.h"
#include "cli/run_options.h"
#include "cli/samples_report.h"
#include "cli/schedule_source.h"
#include "cli/simulation_report.h"
#include "sched/error.h"
#include "sched/trace_file.h"
#include "sched/units.h"

namespace slackline::cli {
namespace {

// The cores that this process may use.
std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

std::string summary(const machine::DelayPlan& plan) {
  std::vector<std::string> parts;
  for (const auto& [count, noun] : {std::pair{plan.ops.size() + plan.steps.size(), "delay"},
                                    {plan.pairs.size(), "slow pair"},
                                    {plan.stragglers.size(), "straggler"},
                                    {plan.noise.size(), "noise"},
                                    {plan.link_rates.size(), "link rate"},
                                    {plan.failures.size(), "failure"}}) {
    if (count != 0) parts.push_back(human_count(count, noun));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

class Simulate : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand);
    options_.declare(arguments);
    arguments.option("--samples", "N", samples_, "runs that differ in their noise (default: 1)");
<<<<<<< HEAD
    arguments.option("--jobs", "N", jobs_, "samples run at a time (default: all cores)");
=======
>>>>>>> 245402d (Stragglers, noise, link rates, failures and a seed on the command line)
    arguments.option("--trace", "FILE", trace_file_, "write the times of every operation there");
    arguments.option("--links", "FILE", link_file_,
                     "write there what passed each link, and when (CSV)");
    arguments.flag("--all", all_, "every rank and link, not the first few");
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("binomial-pipeline:ranks=16,bytes=256MiB,block=1MiB --platform fractus");
    arguments.example("pipeline.sched -p star:rate=40Gbps,latency=2us --delay op=17,by=100us");
  }

  int run(Console& console) override {
    if (json_ && trace_file_ == "-") {
      throw InputError(
          "--trace -: with --json the document is alone on standard output; expected "
          "a file");
    }
    const RunSetting setting = options_.resolve(console);
<<<<<<< HEAD
    const auto samples = static_cast<std::uint32_t>(
        samples_ ? sched::parse_count(*samples_, "--samples", 1, 1u << 24) : 1);
    const auto jobs = static_cast<std::uint32_t>(
        jobs_ ? sched::parse_count(*jobs_, "--jobs", 1, 1024) : usable_cores());
    if (samples > 1 && (trace_file_ || link_file_)) {
      throw InputError(
          fmt::format("--samples {} with {}: expected one of them; a sample has the seed of the "
                      "first plus its number, and can be run alone",
                      samples, trace_file_ ? "--trace" : "--links"));
=======
    const std::uint64_t samples =
        samples_ ? sched::parse_count(*samples_, "--samples", 1, 1u << 30) : 1;
    if (samples > 1) {
      throw Unsupported(fmt::format(
          "--samples {}: without noise every sample is equal, and delay plans of this version have "
          "none; expected 1",
          samples));
>>>>>>> 245402d (Stragglers, noise, link rates, failures and a seed on the command line)
    }
    const LoadedSchedule loaded = source_.load_proved(console);
    return samples > 1 ? run_samples(loaded, setting, {samples, jobs, {}}, console)
                       : run_once(loaded, setting, console);
  }

 private:
  int run_once(const LoadedSchedule& loaded, const RunSetting& setting, Console& console) const {
    sched::Trace trace = setting.run(loaded.schedule, console);
<<<<<<< HEAD
=======
    trace.seed = setting.delays.seed;
>>>>>>> 245402d (Stragglers, noise, link rates, failures and a seed on the command line)
    trace.title = loaded.title;
    const machine::Wiring wiring = wiring_of(setting.platform, loaded.schedule);
    const SimulationResult result =
        result_of(loaded.schedule, setting.platform, wiring, setting.delays, trace);
    if (link_file_) {
      console.phase("writing");
      write_output_file(*link_file_, link_csv(loaded.schedule, wiring, setting.delays, trace));
    }
    if (trace_file_) {
      console.phase("writing");
      deliver(trace_file_, sched::write_trace(trace), "", nullptr, console);
      if (trace_file_ == "-") return 0;
    }
    const Simulation simulation{loaded, setting, trace, result, trace_file_};
    console.print(json_ ? simulation_document(simulation) : simulation_report(simulation, all_));
    return result.failed ? 1 : 0;
  }

<<<<<<< HEAD
  int run_samples(const LoadedSchedule& loaded, const RunSetting& setting, machine::SampleRuns runs,
                  Console& console) const {
    runs.progress = [&](std::uint32_t done) { console.progress("simulating", done, runs.samples); };
    const machine::Samples samples = setting.run_samples(loaded.schedule, runs, console);
    console.print(json_ ? samples_document(loaded, setting, samples)
                        : samples_report(loaded, setting, samples, all_));
    return std::all_of(samples.makespan_s.begin(), samples.makespan_s.end(),
                       [](double t) { return std::isfinite(t); })
               ? 0
               : 1;
=======
 private:
  std::string document(const LoadedSchedule& loaded, const RunSetting& setting,
                       const sched::Trace& trace, const Result& result) const {
    const double bytes = static_cast<double>(loaded.schedule.message_bytes());
    JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
    json.set("schedule", loaded.name);
    json.set("engine", setting.engine->name);
    json.set("answered_by", trace.engine);
    json.set("contended", trace.contended);
    json.set("platform", setting.platform.name);
    json.set("platform_spec", trace.platform);
    json.set("policy", machine::name(setting.policy));
    json.set("seed", trace.seed);
    json.set("bytes", loaded.schedule.message_bytes());
    json.set("makespan_s", result.makespan_s);
    json.set("bandwidth_bytes_per_s",
             result.makespan_s > 0 ? std::optional(bytes / result.makespan_s) : std::nullopt);
    json.set("rank_finish_s", std::span<const double>(result.finish_s));
    json.set("nic_out_bytes", std::span<const std::uint64_t>(result.use.out_bytes));
    json.set("nic_in_bytes", std::span<const std::uint64_t>(result.use.in_bytes));
    json.set("nic_out_utilisation", std::span<const double>(result.out_share));
    json.set("nic_in_utilisation", std::span<const double>(result.in_share));
    json.set("trace", trace_file_);
    return json.text();
  }

  std::string report(const LoadedSchedule& loaded, const RunSetting& setting,
                     const sched::Trace& trace, const Result& result) const {
    const double bytes = static_cast<double>(loaded.schedule.message_bytes());
    const std::size_t out = index_of_largest(result.out_share);
    const std::size_t in = index_of_largest(result.in_share);
    Table table({Align::kLeft, Align::kLeft});
    table.add({"platform", setting.platform.name});
    table.add({"engine", trace.engine == setting.engine->name
                             ? trace.engine
                             : fmt::format("{} ({})", setting.engine->name, trace.engine)});
    const machine::DelayPlan& delays = setting.delays;
    if (!delays.empty()) {
      table.add({"delays", summary(delays)});
    }
    table.add({"makespan", fmt::format("{} ({:.9g} s)", sched::human_seconds(result.makespan_s),
                                       result.makespan_s)});
    table.add({"bandwidth", result.makespan_s > 0
                                ? sched::human_bytes_per_second(bytes / result.makespan_s)
                                : "–"});
    table.add({"busiest NIC", fmt::format("out {} (rank {}), in {} (rank {})",
                                          human_share(result.out_share[out], 1), out,
                                          human_share(result.in_share[in], 1), in)});
    table.add({"digest", to_string(loaded.schedule.digest())});
    if (trace_file_) table.add({"trace", *trace_file_});
    std::string text = loaded.name + '\n' + table.text("  ");
    if (trace.contended) {
      text +=
          "  messages shared a NIC, which this engine leaves out: the time is too short; "
          "--engine simgrid has it\n";
    }
    return text + '\n' + ranks_table(result);
  }

  std::string ranks_table(const Result& result) const {
    const std::size_t ranks = result.finish_s.size();
    const std::size_t rows = all_ ? ranks : std::min(ranks, kRowsShown);
    Table table(std::vector<Align>(6, Align::kRight));
    table.add({"rank", "finish", "sent", "NIC out", "received", "NIC in"});
    for (std::size_t r = 0; r < rows; ++r) {
      table.add({fmt::to_string(r), sched::human_seconds(result.finish_s[r]),
                 human_bytes(result.use.out_bytes[r]), human_share(result.out_share[r], 1),
                 human_bytes(result.use.in_bytes[r]), human_share(result.in_share[r], 1)});
    }
    std::string text = table.text("  ");
    if (rows < ranks) {
      const std::size_t last = index_of_largest(result.finish_s);
      text += fmt::format("  … and {}; rank {} finishes last, after {}; --all shows them\n",
                          human_count(ranks - rows, "more rank"), last,
                          sched::human_seconds(result.finish_s[last]));
    }
    return text;
>>>>>>> 245402d (Stragglers, noise, link rates, failures and a seed on the command line)
  }

  ScheduleSource source_;
  RunOptions options_{"simgrid"};
  std::optional<std::string> samples_;
<<<<<<< HEAD
  std::optional<std::string> jobs_;
  std::optional<std::string> link_file_;
=======
>>>>>>> 245402d (Stragglers, noise, link rates, failures and a seed on the command line)
  std::optional<std::string> trace_file_;
  bool all_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_simulate() { return std::make_unique<Simulate>(); }

}  // namespace slackline::cli
