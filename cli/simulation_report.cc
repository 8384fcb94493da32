#include "cli/simulation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/advice/link_capacity.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/platform_report.h"
#include "cli/table.h"
#include "machine/paths.h"
#include "machine/samples.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kRowsShown = 16;
constexpr std::size_t kLinksShown = 8;

template <class Value>
std::size_t index_of_largest(const std::vector<Value>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// The share of the run in which a link would have moved what it carried at its full rate.
double share_of(const SimulationResult& result, std::size_t link) {
  const double end_s = result.failed ? result.failed->last_done_s : result.makespan_s;
  if (end_s <= 0) return 0;
  return static_cast<double>(result.link_loads[link].bytes) / result.link_bytes_per_s[link] / end_s;
}

std::string ranks_table(const SimulationResult& result, bool all) {
  const std::size_t ranks = result.finish_s.size();
  const std::size_t rows = all ? ranks : std::min(ranks, kRowsShown);
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

// The links that were used most, busiest first.
std::string links_table(const SimulationResult& result, bool all) {
  std::vector<std::size_t> order(result.link_loads.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::size_t l) { return result.link_loads[l].bytes == 0; });
  if (order.empty()) return "";
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return share_of(result, a) > share_of(result, b);
  });
  const std::size_t rows = all ? order.size() : std::min(order.size(), kLinksShown);
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"link", "rate", "carried", "messages", "used"});
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t l = order[i];
    table.add({result.link_names[l], sched::human_bytes_per_second(result.link_bytes_per_s[l]),
               human_bytes(result.link_loads[l].bytes),
               fmt::to_string(result.link_loads[l].messages), human_share(share_of(result, l), 1)});
  }
  std::string text = "\n";
  text += table.text("  ");
  if (rows < order.size()) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(order.size() - rows, "less used link"));
  }
  return text;
}

// Who is cut off, what was delivered, and what never will be.
std::string failure_table(const SimulationResult& result, bool all) {
  const analysis::Outcome& outcome = *result.failed;
  Table table(
      {Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.add({"rank", "fate", "delivered", "never", "last done", "because"});
  std::vector<std::size_t> shown;
  for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
    if (all || outcome.ranks.size() <= kRowsShown ||
        outcome.ranks[r].fate != analysis::RankFate::kComplete) {
      shown.push_back(r);
    }
  }
  const std::size_t rows = all ? shown.size() : std::min(shown.size(), kRowsShown);
  for (std::size_t i = 0; i < rows; ++i) {
    const analysis::RankOutcome& rank = outcome.ranks[shown[i]];
    table.add({fmt::to_string(shown[i]), std::string(analysis::name(rank.fate)),
               human_bytes(rank.delivered_bytes),
               human_bytes(rank.expected_bytes - rank.delivered_bytes),
               sched::human_seconds(rank.last_done_s), result.why_stuck[shown[i]]});
  }
  std::string text = table.text("  ");
  if (rows < shown.size()) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(shown.size() - rows, "more rank"));
  }
  return text;
}

void set_failure(JsonDocument& json, const SimulationResult& result) {
  json.set("complete", !result.failed.has_value());
  if (!result.failed) return;
  json.set("last_done_s", result.failed->last_done_s);
  json.set("delivered_bytes", result.failed->delivered_bytes);
  json.set("expected_bytes", result.failed->expected_bytes);
  json.begin_list("ranks");
  for (std::size_t r = 0; r < result.failed->ranks.size(); ++r) {
    const analysis::RankOutcome& rank = result.failed->ranks[r];
    json.begin_object();
    json.set("rank", r);
    json.set("fate", analysis::name(rank.fate));
    json.set("ops_done", std::uint64_t{rank.ops_done});
    json.set("ops", std::uint64_t{rank.ops});
    json.set("delivered_bytes", rank.delivered_bytes);
    json.set("expected_bytes", rank.expected_bytes);
    json.set("last_done_s", rank.last_done_s);
    json.set("because", rank.stuck.valid() ? std::optional(result.why_stuck[r]) : std::nullopt);
    json.end();
  }
  json.end();
}

}  // namespace

SimulationResult result_of(const machine::Setting& setting, const sched::Trace& trace) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Wiring& wiring = setting.wiring;
  SimulationResult result;
  result.makespan_s = trace.makespan_s();
  result.finish_s = machine::rank_finish_s(schedule, trace.ops);
  const bool counted = trace.ops.size() == schedule.op_count();
  result.use = link_use(schedule, wiring.node(), counted ? &trace : nullptr);
  const machine::Paths paths(setting);
  analysis::require_within_capacity(setting, paths, trace);
  result.out_share = utilisation(result.use.out_bytes, false, wiring, paths, result.makespan_s);
  result.in_share = utilisation(result.use.in_bytes, true, wiring, paths, result.makespan_s);
  if (!std::isfinite(result.makespan_s)) {
    result.failed = analysis::outcome_of(schedule, paths, trace);
    for (const analysis::RankOutcome& rank : result.failed->ranks) {
      result.why_stuck.push_back(
          rank.stuck.valid() ? analysis::why_stuck(schedule, paths, trace, rank.stuck) : "");
    }
  }
  if (setting.platform.topology.kind() == machine::TopologyKind::kStar) return result;
  result.link_loads = analysis::link_load(setting, paths, trace);
  for (const machine::Link& link : wiring.links()) {
    result.link_names.push_back(link.name);
    result.link_bytes_per_s.push_back(link.rate.bytes_per_second());
  }
  return result;
}

std::string summary_of(const machine::DelayPlan& delays) {
  std::string text;
  const auto add = [&](std::size_t count, std::string_view noun) {
    if (count == 0) return;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", human_count(count, noun));
  };
  add(delays.ops.size() + delays.steps.size(), "delay");
  add(delays.pairs.size(), "slow pair");
  add(delays.stragglers.size(), "straggler");
  add(delays.link_rates.size(), "link rate");
  add(delays.failures.size(), "failure");
  if (!delays.noise.empty()) {
    text += fmt::format("{}noise (seed {})", text.empty() ? "" : ", ", delays.seed);
  }
  return text;
}

std::string simulation_document(const Simulation& s,
                                const std::function<void(JsonDocument&)>& add_more) {
  const double bytes = static_cast<double>(s.subject.message_bytes);
  JsonDocument json(s.subject.digest, s.subject.proved);
  json.set("schedule", s.subject.name);
  json.set("engine", s.setting.engine->name);
  json.set("answered_by", s.answered_by);
  json.set("contended", s.contended);
  set_platform(json, s.setting.platform, s.ranks());
  json.set("policy", machine::name(s.setting.policy));
  json.set("sends_in_flight", std::uint64_t{s.setting.sends_in_flight});
  json.set("seed", s.setting.delays.seed);
  json.set("bytes", s.subject.message_bytes);
  json.set("makespan_s", s.result.makespan_s);
  const bool has_bandwidth = s.result.makespan_s > 0 && std::isfinite(s.result.makespan_s);
  json.set("bandwidth_bytes_per_s",
           has_bandwidth ? std::optional(bytes / s.result.makespan_s) : std::nullopt);
  json.set("rank_finish_s", std::span<const double>(s.result.finish_s));
  json.set("nic_out_bytes", std::span<const std::uint64_t>(s.result.use.out_bytes));
  json.set("nic_in_bytes", std::span<const std::uint64_t>(s.result.use.in_bytes));
  json.set("nic_out_utilisation", std::span<const double>(s.result.out_share));
  json.set("nic_in_utilisation", std::span<const double>(s.result.in_share));
  if (!s.result.link_loads.empty()) {
    json.begin_list("links");
    for (std::size_t l = 0; l < s.result.link_loads.size(); ++l) {
      if (s.result.link_loads[l].bytes == 0) continue;
      json.begin_object();
      json.set("link", s.result.link_names[l]);
      json.set("rate_bytes_per_s", s.result.link_bytes_per_s[l]);
      json.set("bytes", s.result.link_loads[l].bytes);
      json.set("messages", s.result.link_loads[l].messages);
      json.set("busy_s", s.result.link_loads[l].busy_s);
      json.set("utilisation", share_of(s.result, l));
      json.end();
    }
    json.end();
  }
  set_failure(json, s.result);
  json.set("trace", s.trace_file);
  if (add_more) add_more(json);
  return json.text();
}

std::string simulation_report(const Simulation& s, bool all) {
  const double bytes = static_cast<double>(s.subject.message_bytes);
  Table table({Align::kLeft, Align::kLeft});
  add_platform_rows(table, s.setting.platform.name, s.setting.platform, s.ranks());
  table.add({"engine", s.answered_by == s.setting.engine->name
                           ? s.answered_by
                           : fmt::format("{} ({})", s.setting.engine->name, s.answered_by)});
  if (!s.setting.delays.empty()) table.add({"delays", summary_of(s.setting.delays)});
  if (s.result.failed) {
    const analysis::Outcome& outcome = *s.result.failed;
    table.add({"makespan", "none: the schedule never ends"});
    table.add({"delivered", fmt::format("{} of {} ({}), the last of it by {}",
                                        human_bytes(outcome.delivered_bytes),
                                        human_bytes(outcome.expected_bytes),
                                        human_share(static_cast<double>(outcome.delivered_bytes),
                                                    static_cast<double>(outcome.expected_bytes)),
                                        sched::human_seconds(outcome.last_done_s))});
  } else {
    const std::size_t out = index_of_largest(s.result.out_share);
    const std::size_t in = index_of_largest(s.result.in_share);
    table.add({"makespan", fmt::format("{} ({:.9g} s)", sched::human_seconds(s.result.makespan_s),
                                       s.result.makespan_s)});
    if (bytes > 0) {  // small operations and barriers have no message
      table.add({"bandwidth", s.result.makespan_s > 0
                                  ? sched::human_bytes_per_second(bytes / s.result.makespan_s)
                                  : "–"});
    }
    table.add({"busiest NIC", fmt::format("out {} (rank {}), in {} (rank {})",
                                          human_share(s.result.out_share[out], 1), out,
                                          human_share(s.result.in_share[in], 1), in)});
  }
  table.add({"digest", s.subject.digest.value_or("none: answered without making the schedule")});
  if (s.trace_file) table.add({"trace", *s.trace_file});
  std::string text = s.subject.name + '\n' + table.text("  ");
  if (s.contended) {
    text +=
        "  messages shared a NIC or a link, which this engine leaves out: the time is too short; "
        "--engine flow has it\n";
  }
  text += '\n';
  text += s.result.failed ? failure_table(s.result, all) : ranks_table(s.result, all);
  return text + links_table(s.result, all);
}

std::string link_csv(const machine::Setting& setting, const sched::Trace& trace) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Paths paths(setting);
  std::string text = "link,begin_s,end_s,bytes,op\n";
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind) || !std::isfinite(trace.ops[i].wire_s)) continue;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    const double end_s = analysis::sent_s(schedule, paths, trace, sched::OpId(i));
    for (const machine::LinkId link :
         paths.links(paths.of(op.channel, sched::has_reply(op.kind)))) {
      text += fmt::format("{},{},{},{},{}\n", csv_field(setting.wiring.links()[link.value].name),
                          trace.ops[i].wire_s, std::isfinite(end_s) ? fmt::to_string(end_s) : "",
                          bytes, i);
    }
  }
  return text;
}

}  // namespace slackline::cli
