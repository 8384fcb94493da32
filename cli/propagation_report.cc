#include "cli/propagation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/in_threads.h"
#include "analysis/slack/critical_path.h"
#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/platform_report.h"
#include "machine/samples.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kRowsShown = 8;
constexpr std::size_t kOpsShown = 12;
constexpr std::string_view kForetold = "what is foretold is";

// As what explains a run: a relative 1e-9, and some instants.
double near_s(double makespan_s) { return 1e-9 * makespan_s + 1e-11; }

std::string_view of(bool whole_lane) { return whole_lane ? "lane" : "op"; }

// For sorting: whole nanoseconds decide, or rounding would.
double rounded(double time_s) { return std::floor(time_s * 1e9 + 0.5); }

std::string described(const sched::Schedule& schedule, sched::OpId id) {
  const sched::Op& op = schedule.op(id);
  return fmt::format("op {} ({}, rank {}, step {})", id.value, sched::name(op.kind), op.rank.value,
                     op.step);
}

void set_run(JsonDocument& json, const LoadedSchedule& loaded, const SlackRun& run) {
  json.set("schedule", loaded.name);
  json.set("engine", run.engine);
  json.set("answered_by", run.trace.engine);
  set_platform(json, run.setting.platform, run.trace.platform, loaded.schedule.rank_count());
  set_no_promise(json, why_no_promise(run.setting));
}

}  // namespace

Propagated propagate(const LoadedSchedule& loaded, const SlackRun& before,
                     const analysis::Propagation& propagation, const machine::OpDelay& delay,
                     const machine::Engine* engine) {
  const sched::Schedule& schedule = loaded.schedule;
  Propagated result{delay, propagation.effect(delay), propagation, std::nullopt};
  if (engine == nullptr) return result;
  machine::DelayPlan plan = before.setting.delays;
  plan.ops.push_back(delay);
  const sched::Trace after = engine->run(before.setting.with(plan));
  RealDelay& really = result.really.emplace();
  really.makespan_later_s = after.makespan_s() - before.trace.makespan_s();
  const std::vector<double> finish_s = machine::rank_finish_s(schedule, after.ops);
  const std::vector<double> before_s = machine::rank_finish_s(schedule, before.trace.ops);
  for (std::size_t r = 0; r < finish_s.size(); ++r) {
    really.rank_later_s.push_back(finish_s[r] - before_s[r]);
  }
  const std::vector<double> foretold_s = propagation.done_later_s(delay);
  for (std::size_t i = 0; i < after.ops.size(); ++i) {
    const double later_s = after.ops[i].done_s - before.trace.ops[i].done_s;
    really.largest_difference_s =
        std::max(really.largest_difference_s, std::abs(later_s - foretold_s[i]));
  }
  really.as_foretold = really.largest_difference_s <= near_s(after.makespan_s());
  return result;
}

std::string propagation_report(const LoadedSchedule& loaded, const SlackRun& run,
                               const Propagated& propagated, bool all) {
  const auto& [delay, effect, propagation, really] = propagated;
  Table head({Align::kLeft, Align::kLeft});
  add_run_rows(head, run);
  head.add({"makespan", fmt::format("{} ({:.9g} s)", sched::human_seconds(propagation.makespan_s()),
                                    propagation.makespan_s())});
  head.add({"delay", fmt::format("{} by {}{}", described(loaded.schedule, delay.op),
                                 sched::human_seconds(sched::seconds(delay.by)),
                                 delay.whole_lane ? ", with its whole lane" : "")});
  head.add({"ends later", human_difference(effect.makespan_s)});
  if (really) head.add({"really", human_difference(really->makespan_later_s)});
  head.add({"ops moved", fmt::format("{} of {}", effect.ops_moved, loaded.schedule.op_count())});
  head.add({"digest", to_string(loaded.schedule.digest())});
  std::string text = loaded.name + '\n' +
                     no_promise_line(kForetold, why_no_promise(run.setting), kRealPrices) +
                     head.text("  ");
  if (!really) {
    text += "  not held against a run that is really delayed: this run cannot be had again\n";
  } else if (really->as_foretold) {
    text += "  the run that is really delayed is the one foretold\n";
  } else {
    text += fmt::format(
        "  the run that is really delayed has operations up to {} off: the delay changed who comes "
        "first, or who shares links\n",
        sched::human_seconds(really->largest_difference_s));
  }
  const std::vector<double>& later_s = effect.rank_finish_s;
  std::vector<std::uint32_t> order(later_s.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return rounded(later_s[a]) > rounded(later_s[b]);
  });
  const std::size_t rows = all ? order.size() : std::min(order.size(), kRowsShown);
  Table table(std::vector<Align>(really ? 5 : 3, Align::kRight));
  std::vector<std::string> columns{"rank", "finish", "later"};
  if (really) columns.insert(columns.end(), {"really", "difference"});
  table.add(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint32_t r = order[i];
    std::vector<std::string> row{fmt::to_string(r),
                                 sched::human_seconds(propagation.rank_finish_s()[r]),
                                 human_difference(later_s[r])};
    if (really) {
      // Rounding is no difference.
      const double real_s = really->rank_later_s[r];
      const bool same = std::abs(real_s - later_s[r]) <= near_s(propagation.makespan_s());
      row.push_back(human_difference(same ? later_s[r] : real_s));
      row.push_back(human_difference(same ? 0 : real_s - later_s[r]));
    }
    table.add(row);
  }
  text += "\n  ranks by how much later they finish:\n" + table.text("  ");
  if (rows < order.size()) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(order.size() - rows, "more rank"));
  }
  return text;
}

std::string propagation_document(const LoadedSchedule& loaded, const SlackRun& run,
                                 const Propagated& propagated) {
  const auto& [delay, effect, propagation, really] = propagated;
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  set_run(json, loaded, run);
  json.set("delay_op", delay.op.value);
  json.set("delay_by_s", sched::seconds(delay.by));
  json.set("delay_of", of(delay.whole_lane));
  json.set("makespan_s", propagation.makespan_s());
  json.set("makespan_later_s", effect.makespan_s);
  json.set("ops_moved", effect.ops_moved);
  json.set("rank_finish_s", std::span<const double>(propagation.rank_finish_s()));
  json.set("rank_later_s", std::span<const double>(effect.rank_finish_s));
  if (really) {
    json.set("makespan_really_later_s", really->makespan_later_s);
    json.set("rank_really_later_s", std::span<const double>(really->rank_later_s));
    json.set("largest_difference_s", really->largest_difference_s);
    json.set("as_foretold", really->as_foretold);
  } else {
    for (const char* key : {"makespan_really_later_s", "rank_really_later_s",
                            "largest_difference_s", "as_foretold"}) {
      json.set_null(key);
    }
  }
  return json.text();
}

DelayCosts delay_costs(const LoadedSchedule& loaded, const analysis::Propagation& propagation,
                       sched::Time by, bool whole_lane, std::uint32_t jobs, Console& console) {
  const std::uint32_t ops = loaded.schedule.op_count();
  DelayCosts costs{by, whole_lane, propagation.makespan_s(), {}, {}, {}};
  costs.makespan_later_s.resize(ops);
  costs.ranks_later.resize(ops);
  costs.rank_later_mean_s.resize(ops);
  // Pieces of many operations each, so that what they share is made once per piece.
  constexpr std::uint32_t kPiece = 256;
  const std::uint32_t pieces = ops / kPiece + (ops % kPiece == 0 ? 0 : 1);
  const double rounding_s = analysis::rounding_s(propagation.makespan_s());
  const auto work = [&](std::uint32_t piece) {
    analysis::Propagation::Scratch scratch;
    const std::uint32_t end = std::min(ops, (piece + 1) * kPiece);
    for (std::uint32_t i = piece * kPiece; i < end; ++i) {
      const analysis::DelayEffect effect =
          propagation.effect({sched::OpId(i), by, whole_lane, sched::RankId::none()}, scratch);
      costs.makespan_later_s[i] = effect.makespan_s;
      double sum_s = 0;
      for (const double later_s : effect.rank_finish_s) {
        if (later_s <= rounding_s) continue;
        ++costs.ranks_later[i];
        sum_s += later_s;
      }
      costs.rank_later_mean_s[i] = sum_s / static_cast<double>(effect.rank_finish_s.size());
    }
  };
  analysis::in_threads(pieces, jobs, work, [&](std::uint32_t done) {
    console.progress("delaying each operation", done, pieces);
  });
  return costs;
}

std::string delay_costs_report(const LoadedSchedule& loaded, const SlackRun& run,
                               const DelayCosts& costs, bool all) {
  const std::size_t ops = costs.makespan_later_s.size();
  const double rounding_s = analysis::rounding_s(costs.makespan_s);
  const auto free = static_cast<std::uint64_t>(
      std::count_if(costs.makespan_later_s.begin(), costs.makespan_later_s.end(),
                    [&](double later_s) { return later_s <= rounding_s; }));
  Table head({Align::kLeft, Align::kLeft});
  add_run_rows(head, run);
  head.add({"makespan", fmt::format("{} ({:.9g} s)", sched::human_seconds(costs.makespan_s),
                                    costs.makespan_s)});
  head.add(
      {"delay", fmt::format("each op alone by {}{}", sched::human_seconds(sched::seconds(costs.by)),
                            costs.whole_lane ? ", with its whole lane" : "")});
  head.add({"costs nothing",
            fmt::format("at {} of {} ({})", free, human_count(ops, "op"),
                        human_share(static_cast<double>(free), static_cast<double>(ops)))});
  head.add({"digest", to_string(loaded.schedule.digest())});
  std::string text = loaded.name + '\n' +
                     no_promise_line(kForetold, why_no_promise(run.setting), kRealPrices) +
                     head.text("  ");
  if (ops == 0) return text;
  std::vector<std::uint32_t> order(ops);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(rounded(costs.makespan_later_s[a]), rounded(costs.rank_later_mean_s[a])) >
           std::pair(rounded(costs.makespan_later_s[b]), rounded(costs.rank_later_mean_s[b]));
  });
  const std::size_t rows = all ? ops : std::min(ops, kOpsShown);
  Table table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
               Align::kRight, Align::kRight});
  table.add({"op", "kind", "rank", "step", "ends later", "ranks later", "mean rank"});
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint32_t id = order[i];
    const sched::Op& op = loaded.schedule.ops()[id];
    table.add({fmt::to_string(id), std::string(sched::name(op.kind)), fmt::to_string(op.rank.value),
               fmt::to_string(op.step), human_difference(costs.makespan_later_s[id]),
               fmt::to_string(costs.ranks_later[id]),
               human_difference(costs.rank_later_mean_s[id])});
  }
  text += "\n  ops by what their delay costs, most first:\n" + table.text("  ");
  if (rows < ops) {
    text += fmt::format("  … and {}; --all shows them\n", human_count(ops - rows, "more op"));
  }
  return text;
}

std::string delay_costs_document(const LoadedSchedule& loaded, const SlackRun& run,
                                 const DelayCosts& costs) {
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  set_run(json, loaded, run);
  json.set_null("delay_op");
  json.set("delay_by_s", sched::seconds(costs.by));
  json.set("delay_of", of(costs.whole_lane));
  json.set("makespan_s", costs.makespan_s);
  json.set("op_makespan_later_s", std::span<const double>(costs.makespan_later_s));
  json.set("op_ranks_later", std::span<const std::uint64_t>(costs.ranks_later));
  json.set("op_rank_later_mean_s", std::span<const double>(costs.rank_later_mean_s));
  return json.text();
}

}  // namespace slackline::cli
