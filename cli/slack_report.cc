#include "cli/slack_report.h"

#include <fmt/format.h>

#include <tuple>

#include "analysis/slack/float_map.h"
#include "analysis/slack/float_summary.h"
#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/human.h"
#include "experiments/heat_map.h"
#include "machine/paths.h"

namespace slackline::cli {
namespace {

using analysis::FloatSummary;

constexpr std::size_t kRowsShown = 8;
constexpr std::size_t kPathShown = 12;
constexpr std::uint32_t kMapRows = 256;
constexpr std::uint32_t kMapColumns = 512;

std::vector<FloatSummary> by_link(const SlackRun& run, const analysis::TimedSlack& timed) {
  return analysis::summarise_by_link(run.setting, machine::Paths(run.setting),
                                     timed.message_float_s);
}

std::string step_lines(const analysis::StepSlack& steps) {
  if (steps.steady.sends == 0) return "  no step slack: no rank relays what it received\n";
  const std::string exact = exact_average(steps.steady);
  return fmt::format(
      "  average step slack {:.11g}{} over steady steps {}…{}\n"
      "  smallest step slack {}; average of every step {:.11g}\n",
      steps.steady.average(),
      exact.find('/') == std::string::npos ? "" : fmt::format(" ({})", exact), steps.first_steady,
      steps.end_steady - 1, steps.smallest, steps.all.average());
}

// Those with the least float first, of them those with the most operations without any. Least
// floats that differ by rounding are one.
Rows least_float_first(const std::vector<FloatSummary>& summaries) {
  return least_first(
      rows_where(summaries.size(), [&](auto i) { return summaries[i].ops != 0; }), [&](auto i) {
        const FloatSummary& each = summaries[i];
        return std::tuple(each.without != 0 ? 0 : each.min_s, -static_cast<double>(each.without),
                          each.median_s, each.max_s);
      });
}

Columns float_columns(const std::vector<FloatSummary>& of, const char* ops) {
  return {{ops, ops, [&of](auto i) { return of[i].ops; }},
          {"without_float", "without float", [&of](auto i) { return of[i].without; }},
          {"least_float_s", "least", [&of](auto i) { return in_seconds(of[i].min_s); }},
          {"median_float_s", "median", [&of](auto i) { return in_seconds(of[i].median_s); }},
          {"most_float_s", "most", [&of](auto i) { return in_seconds(of[i].max_s); }}};
}

std::string path_table(const sched::Schedule& schedule, const sched::Trace& trace,
                       const analysis::TimedSlack& timed, bool all) {
  const std::vector<sched::OpId>& path = timed.critical_path;
  const std::size_t half = kPathShown / 2;
  const bool whole = all || path.size() <= kPathShown + 1;
  Table table(
      {Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"op", "kind", "rank", "step", "issued", "done"});
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!whole && i == half) {
      table.add({"…"});
      i = path.size() - half;
    }
    const sched::Op& op = schedule.op(path[i]);
    const sched::OpTimes& times = trace.ops[path[i].value];
    table.add({fmt::to_string(path[i].value), std::string(sched::name(op.kind)),
               fmt::to_string(op.rank.value), fmt::to_string(op.step),
               sched::human_seconds(times.issued_s), sched::human_seconds(times.done_s)});
  }
  return fmt::format("  critical path, {} {}{}:\n", path.size(),
                     path.size() == 1 ? "entry" : "entries",
                     whole ? "" : " (--all shows every one)") +
         table.text("  ");
}

// What a delay of one operation costs at most.
std::string delay_line(const sched::Schedule& schedule, const analysis::FixedOrder& order) {
  if (order.one_delay_costs_at_most_itself()) {
    return "  a delay of one operation costs at most itself: arcs fix every order on lanes and at "
           "ports\n";
  }
  if (order.contested == analysis::Contested::kRates) {
    return "  a delay may cost more than itself: rates change, or ways are cut, at given times\n";
  }
  if (order.contested == analysis::Contested::kLooks) {
    return "  a delay may cost more than itself: completions wait for their look as they come\n";
  }
  return fmt::format(
      "  a delay may cost more than itself: {} that op {} comes before op {} at {}\n",
      order.decided ? "no arc fixes" : "no arc was found to fix", order.first.value,
      order.second.value, place_of(schedule, order));
}

// What a reader must know of these floats.
std::string remarks(const SlackRun& run, const analysis::TimedSlack& timed) {
  std::string text;
  if (run.trace.contended) {
    text +=
        "  messages shared links, which this engine leaves out: --engine flow has slack with "
        "it\n";
  }
  if (!explains(timed)) {
    text += fmt::format(
        "  the order of this run does not explain {} of it ({}): floats are off by as much\n",
        sched::human_seconds(timed.unexplained_s),
        timed.wire_times == analysis::WireTimes::kModel
            ? "messages shared links, or something else held it up"
            : "something held it up that the machine model does not know");
  }
  return text;
}

}  // namespace

void answer_slack(Answer& answer, const SlackRun& run, const FoundSlack& found) {
  const sched::Schedule& schedule = run.setting.schedule;
  const analysis::StepSlack& steps = found.steps;
  const analysis::TimedSlack& timed = found.timed;
  const analysis::FixedOrder& order = found.order;
  add_run(answer, run, run.trace.contended);
  add_no_promise(answer, "floats are", why_no_promise(run.setting), kRealPrices);
  answer.opening(step_lines(steps) + '\n');
  const auto set = [&](std::string_view key, bool known, const Value& value) {
    answer.set(key, known ? value : Value());
  };
  const bool steady = steps.steady.sends != 0;
  const bool any = steps.all.sends != 0;
  set("average_step_slack", steady, steps.steady.average());
  set("average_step_slack_exact", steady, exact_average(steps.steady));
  set("first_steady_step", steady, steps.first_steady);
  set("last_steady_step", steady, steps.end_steady - 1);
  set("average_step_slack_of_all", any, steps.all.average());
  set("smallest_step_slack", any, steps.smallest);
  answer.makespan(timed.makespan_s);
  answer.set("unexplained_s", timed.unexplained_s);
  answer.set("wire_times", name(timed.wire_times));
  if (timed.wire_times == analysis::WireTimes::kRun) {
    answer.row("wire times", "as the run had them, with messages that shared links");
  }
  set("one_delay_costs_at_most_itself", order.decided, order.one_delay_costs_at_most_itself());
  set("order_open_at", order.contested != analysis::Contested::kNothing, name(order.contested));
  std::vector<sched::OpId> open_ops{order.first, order.second};
  std::erase_if(open_ops, [](sched::OpId id) { return !id.valid(); });
  answer.set_each("order_open_ops", open_ops, &sched::OpId::value);
  answer.set_each("critical_path", timed.critical_path, &sched::OpId::value);
  answer.set("total_float_s", timed.total_float_s);
  answer.set("free_float_s", timed.free_float_s);
  answer.set("message_float_s", timed.message_float_s);
  const FloatSummary total = analysis::summarise(timed.total_float_s);
  answer.row("total float", total.ops == 0 ? "there is no operation"
                                           : fmt::format("least {}, median {}, most {}; none {}",
                                                         sched::human_seconds(total.min_s),
                                                         sched::human_seconds(total.median_s),
                                                         sched::human_seconds(total.max_s),
                                                         share_of_ops(total.without, total.ops)));
  answer.digest_row();
  answer.say(remarks(run, timed) + delay_line(schedule, order));

  const std::vector<FloatSummary> ranks =
      analysis::summarise_by_rank(schedule, timed.total_float_s);
  answer.set_each("rank_least_float_s", ranks,
                  [](const FloatSummary& rank) { return rank.ops != 0 ? rank.min_s : kNoNumber; });
  answer.set_each("rank_median_float_s", ranks, [](const FloatSummary& rank) {
    return rank.ops != 0 ? rank.median_s : kNoNumber;
  });
  const std::vector<FloatSummary> links = by_link(run, timed);
  Columns link_columns = float_columns(links, "messages");
  link_columns.insert(
      link_columns.begin(),
      {"link", "link", [&](auto link) { return run.setting.wiring.links()[link].name; },
       Align::kLeft});
  answer.list("links", rows_where(links.size(), [&](auto link) { return links[link].ops != 0; }),
              link_columns);
  if (schedule.op_count() == 0) return;
  Columns rank_columns = float_columns(ranks, "ops");
  rank_columns.insert(rank_columns.begin(), {nullptr, "rank", [](auto rank) { return rank; }});
  answer.table("ranks by the least total float of their ops, then by how many ops have none",
               rank_columns, least_float_first(ranks), kRowsShown, "more rank");
  const Rows used = least_float_first(links);
  if (!used.empty()) {  // some message has bytes
    answer.table(
        "links by the least total float of the messages that pass them, then by how many have none",
        link_columns, used, kRowsShown, "more link");
  }
  if (answer.for_people()) {
    answer.say('\n' + path_table(schedule, run.trace, timed, answer.all()));
  }
}

std::string slack_heat_map(const LoadedSchedule& loaded, const analysis::TimedSlack& timed,
                           bool no_promise) {
  const analysis::FloatMap least =
      analysis::float_map(loaded.schedule, timed.total_float_s, kMapRows, kMapColumns);
  experiments::HeatMap map;
  map.title = loaded.name + ": least total float";
  if (no_promise) map.title += ", of this run with its rates frozen";
  const auto label = [](std::string_view noun, std::uint32_t of_cell) {
    return of_cell == 1 ? std::string(noun) : fmt::format("{} ({} to a cell)", noun, of_cell);
  };
  map.x = label("step", least.steps_of_column);
  map.y = label("rank", least.ranks_of_row);
  map.colour = "least total float";
  map.unit = experiments::AxisUnit::kSeconds;
  map.zero = "no float";
  map.columns = least.columns;
  map.rows = least.rows;
  map.column_width = least.steps_of_column;
  map.row_height = least.ranks_of_row;
  map.values = least.least_s;
  return draw_svg(map);
}

}  // namespace slackline::cli
