#include "cli/slack_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "analysis/slack/float_map.h"
#include "analysis/slack/float_summary.h"
#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/platform_report.h"
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

// Those with the least float first, of them those with the most operations without any, in rows
// that begin with a name. Least floats that differ by rounding are one.
template <class Name>
std::string summary_table(const std::vector<FloatSummary>& summaries, const Table& head,
                          std::string_view noun, const Name& name, bool all) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < summaries.size(); ++i) {
    if (summaries[i].ops != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) {
      const FloatSummary& each = summaries[i];
      return std::tuple(each.without != 0 ? 0 : each.min_s, -static_cast<double>(each.without),
                        each.median_s, each.max_s, i);
    };
    return key(a) < key(b);
  });
  const std::size_t rows = all ? order.size() : std::min(order.size(), kRowsShown);
  Table table = head;
  for (std::size_t i = 0; i < rows; ++i) {
    const FloatSummary& each = summaries[order[i]];
    table.add({name(order[i]), fmt::to_string(each.ops), fmt::to_string(each.without),
               sched::human_seconds(each.min_s), sched::human_seconds(each.median_s),
               sched::human_seconds(each.max_s)});
  }
  std::string text = table.text("  ");
  if (rows < order.size()) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(order.size() - rows, fmt::format("more {}", noun)));
  }
  return text;
}

std::string rank_table(const sched::Schedule& schedule, const analysis::TimedSlack& timed,
                       bool all) {
  Table head(std::vector<Align>(6, Align::kRight));
  head.add({"rank", "ops", "without float", "least", "median", "most"});
  return "  ranks by the least total float of their ops, then by how many ops have none:\n" +
         summary_table(
             analysis::summarise_by_rank(schedule, timed.total_float_s), head, "rank",
             [](std::uint32_t rank) { return fmt::to_string(rank); }, all);
}

// Empty if no message has any bytes.
std::string link_table(const SlackRun& run, const analysis::TimedSlack& timed, bool all) {
  const std::vector<FloatSummary> links = by_link(run, timed);
  if (std::all_of(links.begin(), links.end(), [](const auto& link) { return link.ops == 0; })) {
    return "";
  }
  Table head(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  head.add({"link", "messages", "without float", "least", "median", "most"});
  return "  links by the least total float of the messages that pass them, then by how many have "
         "none:\n" +
         summary_table(
             links, head, "link",
             [&](std::uint32_t link) { return run.setting.wiring.links()[link].name; }, all) +
         '\n';
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

std::string slack_report(const LoadedSchedule& loaded, const SlackRun& run, const FoundSlack& found,
                         bool all) {
  std::string text = loaded.name + '\n' +
                     no_promise_line("floats are", why_no_promise(run.setting), kRealPrices) +
                     step_lines(found.steps) + '\n';
  const analysis::TimedSlack& timed = found.timed;
  const FloatSummary total = analysis::summarise(timed.total_float_s);
  Table table({Align::kLeft, Align::kLeft});
  add_run_rows(table, run);
  table.add({"makespan", fmt::format("{} ({:.9g} s)", sched::human_seconds(timed.makespan_s),
                                     timed.makespan_s)});
  if (timed.wire_times == analysis::WireTimes::kRun) {
    table.add({"wire times", "as the run had them, with messages that shared links"});
  }
  table.add({"total float",
             fmt::format(
                 "least {}, median {}, most {}; none at {} of {} ({})",
                 sched::human_seconds(total.min_s), sched::human_seconds(total.median_s),
                 sched::human_seconds(total.max_s), total.without, human_count(total.ops, "op"),
                 human_share(static_cast<double>(total.without), static_cast<double>(total.ops)))});
  table.add({"digest", to_string(loaded.schedule.digest())});
  text += table.text("  ") + remarks(run, timed) + delay_line(loaded.schedule, found.order);
  if (loaded.schedule.op_count() == 0) return text;
  return text + '\n' + rank_table(loaded.schedule, timed, all) + '\n' +
         link_table(run, timed, all) + path_table(loaded.schedule, run.trace, timed, all);
}

std::string slack_document(const LoadedSchedule& loaded, const SlackRun& run,
                           const FoundSlack& found) {
  const analysis::StepSlack& steps = found.steps;
  const analysis::TimedSlack& timed = found.timed;
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  json.set("schedule", loaded.name);
  json.set("engine", run.engine);
  json.set("answered_by", run.trace.engine);
  json.set("contended", run.trace.contended);
  set_platform(json, run.setting.platform, run.trace.platform, loaded.schedule.rank_count());
  set_no_promise(json, why_no_promise(run.setting));
  const bool any = steps.steady.sends != 0;
  json.set("average_step_slack", any ? std::optional(steps.steady.average()) : std::nullopt);
  json.set("average_step_slack_exact",
           any ? std::optional(exact_average(steps.steady)) : std::nullopt);
  json.set("first_steady_step", any ? std::optional(steps.first_steady) : std::nullopt);
  json.set("last_steady_step", any ? std::optional(steps.end_steady - 1) : std::nullopt);
  json.set("average_step_slack_of_all",
           steps.all.sends != 0 ? std::optional(steps.all.average()) : std::nullopt);
  json.set("smallest_step_slack",
           steps.all.sends != 0 ? std::optional(steps.smallest) : std::nullopt);
  json.set("makespan_s", timed.makespan_s);
  json.set("unexplained_s", timed.unexplained_s);
  json.set("wire_times", name(timed.wire_times));
  const analysis::FixedOrder& order = found.order;
  json.set("one_delay_costs_at_most_itself",
           order.decided ? std::optional(order.one_delay_costs_at_most_itself()) : std::nullopt);
  json.set("order_open_at", order.contested != analysis::Contested::kNothing
                                ? std::optional(std::string(name(order.contested)))
                                : std::nullopt);
  std::vector<std::uint64_t> open_ops;
  for (const sched::OpId id : {order.first, order.second}) {
    if (id.valid()) open_ops.push_back(id.value);
  }
  json.set("order_open_ops", std::span<const std::uint64_t>(open_ops));
  std::vector<std::uint64_t> path;
  for (const sched::OpId id : timed.critical_path) path.push_back(id.value);
  json.set("critical_path", std::span<const std::uint64_t>(path));
  json.set("total_float_s", std::span<const double>(timed.total_float_s));
  json.set("free_float_s", std::span<const double>(timed.free_float_s));
  json.set("message_float_s", std::span<const double>(timed.message_float_s));
  std::vector<double> least_s;
  std::vector<double> median_s;
  for (const FloatSummary& rank :
       analysis::summarise_by_rank(loaded.schedule, timed.total_float_s)) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    least_s.push_back(rank.ops != 0 ? rank.min_s : kNone);
    median_s.push_back(rank.ops != 0 ? rank.median_s : kNone);
  }
  json.set("rank_least_float_s", std::span<const double>(least_s));
  json.set("rank_median_float_s", std::span<const double>(median_s));
  const std::vector<FloatSummary> links = by_link(run, timed);
  json.begin_list("links");
  for (std::size_t l = 0; l < links.size(); ++l) {
    if (links[l].ops == 0) continue;
    json.begin_object();
    json.set("link", run.setting.wiring.links()[l].name);
    json.set("messages", links[l].ops);
    json.set("without_float", links[l].without);
    json.set("least_float_s", links[l].min_s);
    json.set("median_float_s", links[l].median_s);
    json.set("most_float_s", links[l].max_s);
    json.end();
  }
  json.end();
  return json.text();
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
  map.unit = std::string("s");
  map.zero = "no float";
  map.columns = least.columns;
  map.rows = least.rows;
  map.column_width = least.steps_of_column;
  map.row_height = least.ranks_of_row;
  map.values = least.least_s;
  return draw_svg(map);
}

}  // namespace slackline::cli
