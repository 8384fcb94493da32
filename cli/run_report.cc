#include "cli/run_report.h"

#include <fmt/format.h>

#include <optional>

#include "base/units.h"
#include "cli/facts_report.h"
#include "cli/human.h"
#include "cli/processor_report.h"
#include "cli/simulation_report.h"
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

// Of all ranks; nothing if none multicasts.
std::optional<hw::MulticastCounts> multicasts_of(const std::vector<hw::RankFacts>& facts) {
  std::optional<hw::MulticastCounts> all;
  for (const hw::RankFacts& of_rank : facts) {
    if (!of_rank.transport.multicast) continue;
    if (!all) all.emplace();
    *all += *of_rank.transport.multicast;
  }
  return all;
}

std::string multicast_row(const hw::MulticastCounts& counts) {
  return fmt::format("{} sent, {} received; {} repaired", human_count(counts.sent, "datagram"),
                     counts.received, human_count(counts.repaired, "packet"));
}

}  // namespace

void answer_run(Answer& answer, const RealRun& run) {
  const hw::RunResult& result = run.result;
  const hw::RunOptions& options = run.options;
  answer.set("schedule", answer.subject().name);
  answer.set("engine", "run");
  answer.set("answered_by", "run:" + run.transport);
  answer.set_null({"platform"});
  answer.both("transport", "transport", run.transport);
  add_delays(answer, options.delays, run.without_effect);
  answer.row("iterations", iterations(run));
  answer.set("policy", machine::name(options.order.policy));
  answer.set("sends_in_flight", options.order.sends_in_flight);
  answer.set("completion", hw::name(options.waiting));
  answer.set("seed", options.delays.seed);
  answer.set("iterations", result.makespans_s.size());
  answer.set("warm_up", options.warm_up);
  answer.set("bytes", answer.subject().message_bytes);
  answer.set("bytes_proved", options.prove && !result.breach);
  add_figures(run.figures, answer.head());
  if (answer.json() != nullptr) add_figures(run.figures, *answer.json());
  answer.set("makespans_s", result.makespans_s);
  answer.set("rank_finish_s", result.rank_finish_s);
  answer.set("clock_error_s", result.clock_error_s);
  answer.set("late_start_s", result.late_start_s);
  answer.row("late start", fmt::format("up to {}, which is in the makespan",
                                       sched::human_seconds(result.late_start_s)));
  answer.row("processor", processor_row(result.processor, run.facts));
  if (answer.json() != nullptr) {
    add_processor(result.processor, *answer.json());
    add_fullest_host(run.facts, *answer.json());
  }
  answer.row("bytes", proof(run));
  if (const auto counts = multicasts_of(run.facts)) {
    answer.row("multicast", multicast_row(*counts));
    answer.set("multicast_sent", counts->sent);
    answer.set("multicast_received", counts->received);
    answer.set("multicast_repeated", counts->repeated);
    answer.set("multicast_early", counts->early);
    answer.set("multicast_repaired", counts->repaired);
    answer.set("multicast_repairing", counts->repairing);
  }
  answer.row("clocks", result.clock_error_s == 0
                           ? "one for all ranks"
                           : "alike within " + sched::human_seconds(result.clock_error_s));
  answer.set("timestamp_overhead_s", result.timestamp_overhead_s);
  if (options.timestamps) {
    answer.row("timing", fmt::format("costs {} per operation",
                                     sched::human_seconds(result.timestamp_overhead_s)));
  }
  answer.digest_row();
  answer.set("nic_out_bytes", run.use.out_bytes);
  answer.set("nic_in_bytes", run.use.in_bytes);
  answer.set("trace", run.trace_file);
  if (run.trace_file) answer.row("trace", *run.trace_file);
  answer.table("",
               {{nullptr, "rank", [](auto r) { return r; }},
                {nullptr, "finish", [&](auto r) { return in_seconds(result.rank_finish_s[r]); }},
                {nullptr, "sent", [&](auto r) { return in_bytes(run.use.out_bytes[r]); }},
                {nullptr, "received", [&](auto r) { return in_bytes(run.use.in_bytes[r]); }}},
               rows_of(result.rank_finish_s.size()), kRowsShown, "more rank");
  if (answer.json() != nullptr) add_facts(run.facts, *answer.json());
  if (answer.all() && answer.for_people()) answer.say('\n' + facts_table(run.facts));
}

}  // namespace slackline::cli
