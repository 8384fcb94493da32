#include "cli/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "cli/facts_report.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/simulation_report.h"
#include "cli/table.h"
#include "machine/issue_policy.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kRowsShown = 16;

std::string proof(const RealRun& run) {
  if (!run.options.prove) return "not proved";
  return fmt::format(
      "proved at every rank{}",
      run.result.makespans_s.size() + run.options.warm_up > 1 ? ", after each iteration" : "");
}

std::string iterations(const RealRun& run) {
  const std::size_t count = run.result.makespans_s.size();
  if (run.options.warm_up == 0) return fmt::to_string(count);
  return fmt::format("{}, after {} to warm up", count, run.options.warm_up);
}

}  // namespace

std::string run_report(const RealRun& run, bool all) {
  const hw::RunResult& result = run.result;
  Table table({Align::kLeft, Align::kLeft});
  table.add({"transport", run.transport});
  if (!run.options.delays.empty()) table.add({"delays", summary_of(run.options.delays)});
  table.add({"iterations", iterations(run)});
  add_figures(run.figures, table);
  table.add({"late start", fmt::format("up to {}, which is in the makespan",
                                       sched::human_seconds(result.late_start_s))});
  table.add({"bytes", proof(run)});
  table.add(
      {"clocks", result.clock_error_s == 0
                     ? "one for all ranks"
                     : fmt::format("alike within {}", sched::human_seconds(result.clock_error_s))});
  if (run.options.timestamps) {
    table.add({"timing", fmt::format("costs {} per operation",
                                     sched::human_seconds(result.timestamp_overhead_s))});
  }
  table.add({"digest", run.subject.digest.value_or("")});
  if (run.trace_file) table.add({"trace", *run.trace_file});
  std::string text = run.subject.name + '\n' + table.text("  ") + '\n';

  const std::size_t ranks = result.rank_finish_s.size();
  const std::size_t rows = all ? ranks : std::min(ranks, kRowsShown);
  Table finishes(std::vector<Align>(4, Align::kRight));
  finishes.add({"rank", "finish", "sent", "received"});
  for (std::size_t r = 0; r < rows; ++r) {
    finishes.add({fmt::to_string(r), sched::human_seconds(result.rank_finish_s[r]),
                  human_bytes(run.use.out_bytes[r]), human_bytes(run.use.in_bytes[r])});
  }
  text += finishes.text("  ");
  if (rows < ranks) {
    text += fmt::format("  … and {}; --all shows them\n", human_count(ranks - rows, "more rank"));
  }
  if (all) text += '\n' + facts_table(run.facts);
  return text;
}

std::string run_document(const RealRun& run, const std::function<void(JsonDocument&)>& add_more) {
  const hw::RunResult& result = run.result;
  JsonDocument json(run.subject.digest, run.subject.proved);
  json.set("schedule", run.subject.name);
  json.set("engine", "run");
  json.set("answered_by", fmt::format("run:{}", run.transport));
  json.set_null("platform");
  json.set("transport", run.transport);
  json.set("policy", machine::name(run.options.order.policy));
  json.set("sends_in_flight", std::uint64_t{run.options.order.sends_in_flight});
  json.set("completion", hw::name(run.options.waiting));
  json.set("seed", run.options.delays.seed);
  json.set("iterations", std::uint64_t{result.makespans_s.size()});
  json.set("warm_up", std::uint64_t{run.options.warm_up});
  json.set("bytes", run.subject.message_bytes);
  json.set("bytes_proved", run.options.prove && !result.breach);
  add_figures(run.figures, json);
  json.set("makespans_s", std::span<const double>(result.makespans_s));
  json.set("rank_finish_s", std::span<const double>(result.rank_finish_s));
  json.set("clock_error_s", result.clock_error_s);
  json.set("late_start_s", result.late_start_s);
  json.set("timestamp_overhead_s", result.timestamp_overhead_s);
  json.set("nic_out_bytes", std::span<const std::uint64_t>(run.use.out_bytes));
  json.set("nic_in_bytes", std::span<const std::uint64_t>(run.use.in_bytes));
  json.set("trace", run.trace_file);
  add_facts(run.facts, json);
  if (add_more) add_more(json);
  return json.text();
}

}  // namespace slackline::cli
