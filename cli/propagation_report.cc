#include "cli/propagation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/in_threads.h"
#include "analysis/slack/critical_path.h"
#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/human.h"
#include "machine/samples.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kRowsShown = 8;
constexpr std::size_t kOpsShown = 12;

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

std::string delay_text(sched::Time by, bool whole_lane) {
  return human_time(by) + (whole_lane ? ", with its whole lane" : "");
}

void add_foretold_run(Answer& answer, const SlackRun& run) {
  add_run(answer, run);
  add_no_promise(answer, "what is foretold is", why_no_promise(run.setting), kRealPrices);
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

void answer_propagation(Answer& answer, const SlackRun& run, const Propagated& propagated) {
  const auto& [delay, effect, propagation, really] = propagated;
  const sched::Schedule& schedule = run.setting.schedule;
  const std::vector<double>& later_s = effect.rank_finish_s;
  add_foretold_run(answer, run);
  answer.set("delay_op", delay.op.value);
  answer.set("delay_by_s", sched::seconds(delay.by));
  answer.set("delay_of", of(delay.whole_lane));
  answer.makespan(propagation.makespan_s());
  answer.row("delay", fmt::format("{} by {}", described(schedule, delay.op),
                                  delay_text(delay.by, delay.whole_lane)));
  answer.both("makespan_later_s", "ends later", as_difference(effect.makespan_s));
  if (really) answer.row("really", human_difference(really->makespan_later_s));
  answer.set("ops_moved", effect.ops_moved);
  answer.row("ops moved", fmt::format("{} of {}", effect.ops_moved, schedule.op_count()));
  answer.digest_row();
  answer.set("rank_finish_s", propagation.rank_finish_s());
  answer.set("rank_later_s", later_s);
  if (really) {
    answer.set("makespan_really_later_s", really->makespan_later_s);
    answer.set("rank_really_later_s", really->rank_later_s);
    answer.set("largest_difference_s", really->largest_difference_s);
    answer.set("as_foretold", really->as_foretold);
  } else {
    answer.set_null(
        {"makespan_really_later_s", "rank_really_later_s", "largest_difference_s", "as_foretold"});
  }
  if (!really) {
    answer.say("  not held against a run that is really delayed: this run cannot be had again\n");
  } else if (really->as_foretold) {
    answer.say("  the run that is really delayed is the one foretold\n");
  } else {
    answer.say(fmt::format(
        "  the run that is really delayed has operations up to {} off: the delay changed who comes "
        "first, or who shares links\n",
        sched::human_seconds(really->largest_difference_s)));
  }
  Columns columns = {
      {nullptr, "rank", [](auto r) { return r; }},
      {nullptr, "finish", [&](auto r) { return in_seconds(propagation.rank_finish_s()[r]); }},
      {nullptr, "later", [&](auto r) { return as_difference(later_s[r]); }}};
  if (really) {
    // Rounding is no difference.
    const auto same = [&](auto r) {
      return std::abs(really->rank_later_s[r] - later_s[r]) <= near_s(propagation.makespan_s());
    };
    columns.push_back({nullptr, "really", [&, same](auto r) {
                         return as_difference(same(r) ? later_s[r] : really->rank_later_s[r]);
                       }});
    columns.push_back({nullptr, "difference", [&, same](auto r) {
                         return as_difference(same(r) ? 0 : really->rank_later_s[r] - later_s[r]);
                       }});
  }
  answer.table("ranks by how much later they finish", columns,
               most_first(rows_of(later_s.size()), [&](auto r) { return rounded(later_s[r]); }),
               kRowsShown, "more rank");
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

void answer_delay_costs(Answer& answer, const SlackRun& run, const DelayCosts& costs) {
  const std::vector<double>& later_s = costs.makespan_later_s;
  const double rounding_s = analysis::rounding_s(costs.makespan_s);
  add_foretold_run(answer, run);
  answer.set_null({"delay_op"});
  answer.set("delay_by_s", sched::seconds(costs.by));
  answer.set("delay_of", of(costs.whole_lane));
  answer.makespan(costs.makespan_s);
  answer.row("delay", "each op alone by " + delay_text(costs.by, costs.whole_lane));
  answer.row("costs nothing",
             share_of_ops(static_cast<std::uint64_t>(std::ranges::count_if(
                              later_s, [&](double cost_s) { return cost_s <= rounding_s; })),
                          later_s.size()));
  answer.digest_row();
  answer.set("op_makespan_later_s", later_s);
  answer.set("op_ranks_later", costs.ranks_later);
  answer.set("op_rank_later_mean_s", costs.rank_later_mean_s);
  if (!answer.for_people() || later_s.empty()) return;
  Columns columns = op_columns(run.setting.schedule, [](auto op) { return sched::OpId(op); });
  columns.push_back({nullptr, "ends later", [&](auto op) { return as_difference(later_s[op]); }});
  columns.push_back({nullptr, "ranks later", [&](auto op) { return costs.ranks_later[op]; }});
  columns.push_back(
      {nullptr, "mean rank", [&](auto op) { return as_difference(costs.rank_later_mean_s[op]); }});
  answer.table("ops by what their delay costs, most first", columns,
               most_first(rows_of(later_s.size()),
                          [&](auto op) {
                            return std::pair(rounded(later_s[op]),
                                             rounded(costs.rank_later_mean_s[op]));
                          }),
               kOpsShown, "more op");
}

}  // namespace slackline::cli
