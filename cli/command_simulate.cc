#include "cli/command_simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/link_use.h"
#include "cli/output_file.h"
#include "cli/run_options.h"
#include "cli/schedule_source.h"
#include "cli/table.h"
#include "sched/error.h"
#include "sched/trace_file.h"
#include "sched/units.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kRowsShown = 16;

// When each rank was through with its last operation; 0 for one without any.
std::vector<double> rank_finish_s(const sched::Schedule& schedule, const sched::Trace& trace) {
  std::vector<double> finish_s(schedule.rank_count(), 0.0);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    double& latest_s = finish_s[schedule.op(sched::OpId(i)).rank.value];
    latest_s = std::max(latest_s, trace.ops[i].done_s);
  }
  return finish_s;
}

template <class Value>
std::size_t index_of_largest(const std::vector<Value>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// What a simulation found, beside its trace.
struct Result {
  double makespan_s = 0;
  std::vector<double> finish_s;
  LinkUse use;
  std::vector<double> out_share;
  std::vector<double> in_share;
};

Result result_of(const sched::Schedule& schedule, const machine::Platform& platform,
                 const sched::Trace& trace) {
  Result result;
  result.makespan_s = trace.makespan_s();
  result.finish_s = rank_finish_s(schedule, trace);
  result.use = link_use(schedule);
  result.out_share = utilisation(result.use.out_bytes, platform, result.makespan_s);
  result.in_share = utilisation(result.use.in_bytes, platform, result.makespan_s);
  return result;
}

class Simulate : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand);
    options_.declare(arguments);
    arguments.option("--samples", "N", samples_, "runs that differ in their noise (default: 1)");
    arguments.option("--seed", "N", seed_, "of the random draws (default: 0)");
    arguments.option("--trace", "FILE", trace_file_, "write the times of every operation there");
    arguments.flag("--all", all_, "every rank, not the first few");
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
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t seed = seed_ ? sched::parse_count(*seed_, "--seed", 0, kMost) : 0;
    const std::uint64_t samples =
        samples_ ? sched::parse_count(*samples_, "--samples", 1, 1u << 30) : 1;
    if (samples > 1) {
      throw Unsupported(fmt::format(
          "--samples {}: without noise every sample is equal, and delay plans of this version have "
          "none; expected 1",
          samples));
    }
    const LoadedSchedule loaded = source_.load_proved(console);
    sched::Trace trace = setting.run(loaded.schedule, console);
    trace.seed = seed;
    trace.title = loaded.title;
    const Result result = result_of(loaded.schedule, setting.platform, trace);
    if (trace_file_) {
      console.phase("writing");
      deliver(trace_file_, sched::write_trace(trace), "", nullptr, console);
      if (trace_file_ == "-") return 0;
    }
    console.print(json_ ? document(loaded, setting, trace, result)
                        : report(loaded, setting, trace, result));
    return 0;
  }

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
      table.add(
          {"delays",
           fmt::format("{}, {}", human_count(delays.ops.size() + delays.steps.size(), "delay"),
                       human_count(delays.pairs.size(), "slow pair"))});
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
  }

  ScheduleSource source_;
  RunOptions options_{"simgrid"};
  std::optional<std::string> samples_;
  std::optional<std::string> seed_;
  std::optional<std::string> trace_file_;
  bool all_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_simulate() { return std::make_unique<Simulate>(); }

}  // namespace slackline::cli
