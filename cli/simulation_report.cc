#include "cli/simulation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/advice/link_capacity.h"
#include "analysis/engines/sent_together.h"
#include "base/csv_field.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/platform_report.h"
#include "machine/paths.h"
#include "machine/samples.h"
#include "machine/without_effect.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kRowsShown = 16;
constexpr std::size_t kLinksShown = 8;

template <class Value>
std::size_t index_of_largest(const std::vector<Value>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// When the run ends, or all that it comes to.
double end_of(const SimulationResult& result) {
  return result.failed ? result.failed->last_done_s : result.makespan_s;
}

// The share of the run in which a link would have moved what it carried at its full rate.
double share_of(const SimulationResult& result, std::size_t link) {
  const double end_s = end_of(result);
  if (end_s <= 0) return 0;
  return result.link_loads[link].wire_bytes / result.link_bytes_per_s[link] / end_s;
}

void add_ranks(Answer& answer, const SimulationResult& result) {
  answer.table("",
               {{nullptr, "rank", [](auto r) { return r; }},
                {nullptr, "finish", [&](auto r) { return in_seconds(result.finish_s[r]); }},
                {nullptr, "sent", [&](auto r) { return in_bytes(result.use.out_bytes[r]); }},
                {nullptr, "NIC out", [&](auto r) { return as_share(result.out_share[r]); }},
                {nullptr, "received", [&](auto r) { return in_bytes(result.use.in_bytes[r]); }},
                {nullptr, "NIC in", [&](auto r) { return as_share(result.in_share[r]); }}},
               rows_of(result.finish_s.size()), kRowsShown, [&](std::size_t left) {
                 const std::size_t last = index_of_largest(result.finish_s);
                 return fmt::format("{}; rank {} finishes last, after {}",
                                    human_count(left, "more rank"), last,
                                    sched::human_seconds(result.finish_s[last]));
               });
}

Columns nic_columns(const SimulationResult& result) {
  const NicUse& nics = result.nics;
  return {{"nic", "NIC", [&](auto n) { return result.nic_names[n]; }, Align::kLeft},
          {"out_bytes", "sent", [&](auto n) { return in_bytes(nics.out_bytes[n]); }},
          {"out_utilisation", "out", [&](auto n) { return as_share(nics.out_share[n]); }},
          {"in_bytes", "received", [&](auto n) { return in_bytes(nics.in_bytes[n]); }},
          {"in_utilisation", "in", [&](auto n) { return as_share(nics.in_share[n]); }}};
}

// Whose ports are used most. Of machines of several NICs, one of these.
std::string busiest_nics(const SimulationResult& result) {
  const bool several = !result.nic_names.empty();
  const std::vector<double>& out_share = several ? result.nics.out_share : result.out_share;
  const std::vector<double>& in_share = several ? result.nics.in_share : result.in_share;
  const std::size_t out = index_of_largest(out_share);
  const std::size_t in = index_of_largest(in_share);
  const auto whose = [&](std::size_t index) {
    return several ? result.nic_names[index] : fmt::format("rank {}", index);
  };
  return fmt::format("out {} ({}), in {} ({})", human_share(out_share[out], 1), whose(out),
                     human_share(in_share[in], 1), whose(in));
}

Columns link_columns(const SimulationResult& result) {
  const auto load = [&](auto l) -> const analysis::LinkLoad& { return result.link_loads[l]; };
  return {{"link", "link", [&](auto l) { return result.link_names[l]; }, Align::kLeft},
          {"rate_bytes_per_s", "rate", [&](auto l) { return as_rate(result.link_bytes_per_s[l]); }},
          {"bytes", "carried", [load](auto l) { return in_bytes(load(l).bytes); }},
          {"messages", "messages", [load](auto l) { return load(l).messages; }},
          {"busy_s", nullptr, [load](auto l) { return load(l).busy_s; }},
          {"utilisation", "used", [&](auto l) { return as_share(share_of(result, l)); }}};
}

// Who is cut off, what was delivered, and what never will be.
void add_failure(Answer& answer, const SimulationResult& result) {
  answer.set("complete", !result.failed.has_value());
  if (!result.failed) return;
  const std::vector<analysis::RankOutcome>& ranks = result.failed->ranks;
  const Columns columns = {
      {"rank", "rank", [](auto r) { return r; }},
      {"fate", "fate", [&](auto r) { return analysis::name(ranks[r].fate); }, Align::kLeft},
      {"ops_done", nullptr, [&](auto r) { return ranks[r].ops_done; }},
      {"ops", nullptr, [&](auto r) { return ranks[r].ops; }},
      {"delivered_bytes", "delivered", [&](auto r) { return in_bytes(ranks[r].delivered_bytes); }},
      {"expected_bytes", nullptr, [&](auto r) { return ranks[r].expected_bytes; }},
      {nullptr, "never",
       [&](auto r) { return in_bytes(ranks[r].expected_bytes - ranks[r].delivered_bytes); }},
      {"last_done_s", "last done", [&](auto r) { return in_seconds(ranks[r].last_done_s); }},
      {"because", "because",
       [&](auto r) { return ranks[r].stuck.valid() ? Value(result.why_stuck[r]) : Value(); },
       Align::kLeft}};
  answer.set("last_done_s", result.failed->last_done_s);
  answer.set("delivered_bytes", result.failed->delivered_bytes);
  answer.set("expected_bytes", result.failed->expected_bytes);
  answer.list("ranks", rows_of(ranks.size()), columns);
  const bool every = answer.all() || ranks.size() <= kRowsShown;
  answer.table(
      "", columns,
      rows_where(ranks.size(),
                 [&](auto r) { return every || ranks[r].fate != analysis::RankFate::kComplete; }),
      kRowsShown, "more rank");
}

// A star has none but the NICs'. Which links a message passed may be known to the run alone.
bool tells_links(const machine::Setting& setting, const machine::Paths& paths) {
  return setting.platform.topology.kind() != machine::TopologyKind::kStar && !paths.is_adaptive();
}

// What ranks sent and received, and what links carried, in one pass over the operations.
void add_messages(const machine::Setting& setting, const machine::Paths& paths,
                  const sched::Trace& trace, SimulationResult& result) {
  const sched::Schedule& schedule = setting.schedule;
  if (trace.ops.size() != schedule.op_count()) {
    result.use = link_use(schedule, setting.wiring.node(), nullptr, setting.wiring.framing());
    return;
  }
  RankUse use(schedule, setting.wiring.node(), setting.wiring.framing());
  analysis::CapacityCheck capacity(setting, paths, trace);
  std::optional<analysis::LinkLoads> loads;
  if (tells_links(setting, paths)) loads.emplace(setting, paths, trace);
  analysis::each_message(
      schedule, &trace,
      [&](sched::OpId id, const sched::Op& op, std::uint64_t bytes, std::uint64_t times) {
        use.add(id, bytes, times);
        if (bytes == 0) return;
        capacity.add(op, bytes, times);
        if (loads) loads->add(id, bytes, times);
      });
  capacity.require(result.makespan_s);
  result.use = use.take();
  if (loads) result.link_loads = loads->take();
}

// Where a rank has more ports than one.
bool tells_nics(const machine::Wiring& wiring) {
  return wiring.node().rails.are_several() || wiring.node().scale_up.any();
}

}  // namespace

SimulationResult result_of(const machine::Setting& setting, const sched::Trace& trace) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Wiring& wiring = setting.wiring;
  SimulationResult result;
  result.finish_s = machine::rank_finish_s(schedule, trace.ops);
  result.makespan_s = *std::ranges::max_element(result.finish_s);
  const bool counted = trace.ops.size() == schedule.op_count();
  const machine::Paths paths(setting);
  add_messages(setting, paths, trace, result);
  result.out_share =
      utilisation(result.use.out_wire_bytes, false, wiring, paths, result.makespan_s);
  result.in_share = utilisation(result.use.in_wire_bytes, true, wiring, paths, result.makespan_s);
  if (tells_nics(wiring)) {
    result.nics = nic_use(schedule, wiring, paths, counted ? &trace : nullptr, result.makespan_s);
  }
  if (!std::isfinite(result.makespan_s)) {
    // There is no makespan of which anything has a share.
    for (std::vector<double>* share :
         {&result.out_share, &result.in_share, &result.nics.out_share, &result.nics.in_share}) {
      std::ranges::fill(*share, kNoNumber);
    }
    result.failed = analysis::outcome_of(schedule, paths, trace);
    for (const analysis::RankOutcome& rank : result.failed->ranks) {
      result.why_stuck.push_back(
          rank.stuck.valid() ? analysis::why_stuck(schedule, paths, trace, rank.stuck) : "");
    }
  }
  name_parts(setting, paths, result);
  return result;
}

void name_parts(const machine::Setting& setting, const machine::Paths& paths,
                SimulationResult& result) {
  const machine::Wiring& wiring = setting.wiring;
  result.without_effect = machine::without_effect(setting, paths, result.makespan_s);
  if (tells_nics(wiring)) {
    for (std::uint32_t n = 0; n < paths.nic_count(); ++n) {
      result.nic_names.push_back(wiring.nic_name(machine::NicId(n)));
    }
  }
  if (!tells_links(setting, paths)) return;
  for (const machine::Link& link : wiring.links()) result.link_names.push_back(link.name);
  result.link_bytes_per_s = mean_bytes_per_s(wiring, paths, end_of(result));
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

void add_delays(Answer& answer, const machine::DelayPlan& delays,
                const std::vector<machine::IdleEntry>& without_effect) {
  if (!delays.empty()) answer.row("delays", summary_of(delays));
  const std::size_t count = without_effect.size();
  const std::size_t shown = answer.all() ? count : std::min(count, kRowsShown);
  for (std::size_t n = 0; n < shown; ++n) {
    answer.row(n == 0 ? "no effect" : "",
               fmt::format("{}: {}", without_effect[n].entry, without_effect[n].why));
  }
  if (shown < count) answer.row("", fmt::format("… and {} more; --all shows them", count - shown));
  answer.list("delays_without_effect", rows_of(count),
              {{"entry", nullptr, [&](auto n) { return without_effect[n].entry; }},
               {"why", nullptr, [&](auto n) { return without_effect[n].why; }}});
}

void answer_simulation(Answer& answer, const Simulation& s) {
  const SimulationResult& result = s.result;
  const double bytes = static_cast<double>(answer.subject().message_bytes);
  const std::string engine(s.setting.engine->name);
  answer.set("schedule", answer.subject().name);
  answer.set("engine", engine);
  answer.set("answered_by", s.answered_by);
  answer.set("contended", s.contended);
  add_platform(answer, s.setting.platform.name, s.setting.platform, s.ranks());
  answer.row("engine",
             s.answered_by == engine ? engine : fmt::format("{} ({})", engine, s.answered_by));
  add_delays(answer, s.setting.delays, result.without_effect);
  answer.set("policy", machine::name(s.setting.policy));
  answer.set("sends_in_flight", s.setting.sends_in_flight);
  answer.set("seed", s.setting.delays.seed);
  answer.set("bytes", answer.subject().message_bytes);
  const bool ends = result.makespan_s > 0 && std::isfinite(result.makespan_s);
  const Value bandwidth = ends ? as_rate(bytes / result.makespan_s) : Value();
  if (result.failed) {
    const analysis::Outcome& outcome = *result.failed;
    answer.set("makespan_s", result.makespan_s);
    answer.row("makespan", "none: the schedule never ends");
    answer.row("delivered", fmt::format("{} of {} ({}), the last of it by {}",
                                        human_bytes(outcome.delivered_bytes),
                                        human_bytes(outcome.expected_bytes),
                                        human_share(static_cast<double>(outcome.delivered_bytes),
                                                    static_cast<double>(outcome.expected_bytes)),
                                        sched::human_seconds(outcome.last_done_s)));
  } else {
    answer.makespan(result.makespan_s);
    if (bytes > 0) {  // small operations and barriers have no message
      answer.row("bandwidth", ends ? bandwidth.text() : "–");
    }
    answer.row("busiest NIC", busiest_nics(result));
  }
  answer.digest_row();
  if (s.trace_file) answer.row("trace", *s.trace_file);
  if (s.contended) {
    answer.say(
        "  messages shared a NIC or a link, which this engine leaves out: the time is too short; "
        "--engine flow has it\n");
  }
  answer.set("bandwidth_bytes_per_s", bandwidth);
  answer.set("rank_finish_s", result.finish_s);
  answer.set("nic_out_bytes", result.use.out_bytes);
  answer.set("nic_in_bytes", result.use.in_bytes);
  answer.set("nic_out_utilisation", result.out_share);
  answer.set("nic_in_utilisation", result.in_share);
  const Columns links = link_columns(result);
  const Rows used =
      rows_where(result.link_loads.size(), [&](auto l) { return result.link_loads[l].bytes != 0; });
  if (!result.link_loads.empty()) answer.list("links", used, links);
  const Columns nics = nic_columns(result);
  const Rows used_nics = rows_where(result.nic_names.size(), [&](auto n) {
    return result.nics.out_bytes[n] != 0 || result.nics.in_bytes[n] != 0;
  });
  if (!result.nic_names.empty()) answer.list("nics", rows_of(result.nic_names.size()), nics);
  if (!result.failed) add_ranks(answer, result);
  add_failure(answer, result);
  if (!used_nics.empty() && !result.failed) {
    answer.table("", nics,
                 most_first(used_nics,
                            [&](auto n) {
                              return std::max(result.nics.out_share[n], result.nics.in_share[n]);
                            }),
                 kLinksShown, "less used NIC");
  }
  if (!used.empty()) {
    answer.table("", links, most_first(used, [&](auto l) { return share_of(result, l); }),
                 kLinksShown, "less used link");
  }
  answer.set("trace", s.trace_file);
}

std::string link_csv(const machine::Setting& setting, const sched::Trace& trace) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Paths paths(setting);
  const analysis::SentTogether together(schedule, &trace);
  std::string text = "link,begin_s,end_s,bytes,op\n";
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    const sched::OpTimes& times = trace.ops[i];
    const bool left = sched::is_initiator(op.kind) && std::isfinite(times.wire_s);
    if (!left || times.attempts == 0) continue;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    const double end_s =
        analysis::sent_s(setting, paths, trace, sched::OpId(i), together.bytes(sched::OpId(i)));
    const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
    const auto links = paths.links(path);
    for (std::size_t l = 0; l < links.size(); ++l) {
      text += fmt::format("{},{},{},{},{}\n",
                          sched::csv_field(setting.wiring.links()[links[l].value].name),
                          trace.ops[i].wire_s, std::isfinite(end_s) ? fmt::to_string(end_s) : "",
                          paths.bytes_over(path, l, bytes), i);
    }
  }
  return text;
}

}  // namespace slackline::cli
