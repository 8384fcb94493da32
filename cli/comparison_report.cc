#include "cli/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/slack_run.h"
#include "cli/table.h"
#include "machine/event_queue.h"

namespace slackline::cli {
namespace {

using analysis::AbsoluteSpread;
using analysis::KindComparison;
using analysis::OpComparison;
using analysis::OrderAgreement;
using analysis::RankComparison;

constexpr std::size_t kRanksShown = 8;

std::string percent(double share) {
  return fmt::format("{}{:.3g} %", share > 0 ? "+" : share < 0 ? "−" : "", 100 * std::abs(share));
}

std::string time_text(double time_s) {
  return std::isfinite(time_s) ? sched::human_seconds(time_s) : "not done";
}

double relative(double first_s, double second_s) {
  if (first_s == second_s) return 0;
  return first_s > 0 ? second_s / first_s - 1 : std::numeric_limits<double>::infinity();
}

std::string order_text(const OrderAgreement& order) {
  if (order.pairs == 0) return "none follow one another";
  return fmt::format("{} of {}",
                     human_share(static_cast<double>(order.same), static_cast<double>(order.pairs)),
                     human_count(order.pairs, "pair"));
}

class Text {
 public:
  explicit Text(const ComparisonReport& report)
      : report_(report),
        found_(report.found),
        // Below this two times are one: of an instant, or of the last bits of a sum.
        equal_within_s_(std::max(machine::kInstant_s, 1e-12 * largest_s())) {}

  std::string text() const {
    return report_.loaded.name + '\n' + head() + never() + ranks() + kinds() + ops();
  }

 private:
  double largest_s() const {
    double largest = 0;
    for (const double time_s : {found_.first_s, found_.second_s}) {
      if (std::isfinite(time_s)) largest = std::max(largest, time_s);
    }
    return largest;
  }

  double cleaned(double difference_s) const {
    return std::abs(difference_s) <= equal_within_s_ ? 0.0 : difference_s;
  }
  std::string difference(double first_s, double second_s) const {
    if (!std::isfinite(first_s) || !std::isfinite(second_s)) return "";
    return human_difference(cleaned(second_s - first_s));
  }
  std::string late(const std::optional<double>& late_s) const {
    return late_s ? human_difference(cleaned(*late_s)) : "";
  }
  std::string absolute(double time_s) const { return sched::human_seconds(cleaned(time_s)); }

  std::string head() const {
    const std::size_t both = found_.ops.size();
    const sched::Trace& a = report_.first.trace;
    const sched::Trace& b = report_.second.trace;
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
    table.add({"", "first", "second", "difference"});
    table.add({"trace", report_.first.file, report_.second.file});
    table.add({"engine", a.engine, b.engine});
    table.add({"platform", a.platform.empty() ? "none" : "", b.platform.empty() ? "none" : "",
               a.platform == b.platform ? "the same" : "another"});
    if (!a.delays.empty() || !b.delays.empty()) {
      table.add({"delays", a.delays.empty() ? "none" : "", b.delays.empty() ? "none" : "",
                 a.delays == b.delays ? "the same" : "others"});
    }
    table.add({"ops done", fmt::to_string(both + found_.only_first.size()),
               fmt::to_string(both + found_.only_second.size()),
               both == a.ops.size() ? "" : fmt::format("of {}", a.ops.size())});
    std::string by = difference(found_.first_s, found_.second_s);
    if (!by.empty() && found_.first_s > 0) {
      by += fmt::format(" ({})", cleaned(found_.second_s - found_.first_s) == 0
                                     ? "0 %"
                                     : percent(relative(found_.first_s, found_.second_s)));
    }
    table.add({"makespan", time_text(found_.first_s), time_text(found_.second_s), by});
    std::string text = table.text("  ");
    Table lines({Align::kLeft, Align::kLeft});
    if (a.platform == b.platform) {
      if (!a.platform.empty()) lines.add({"figures", a.platform});
    } else {
      if (!a.platform.empty()) lines.add({"first on", a.platform});
      if (!b.platform.empty()) lines.add({"second on", b.platform});
    }
    if (report_.options.within) {
      lines.add({"within", fmt::format("{:g} %: {}", 100 * *report_.options.within,
                                       report_.ok() ? "yes" : "no")});
    }
    if (found_.map) {
      const double offset_s = cleaned(found_.map->offset_s);
      const std::string offset = offset_s == 0 ? ""
                                               : fmt::format(" {} {}", offset_s < 0 ? "−" : "+",
                                                             absolute(std::abs(offset_s)));
      const AbsoluteSpread& rest = found_.map->rest;
      lines.add({"fit", fmt::format("second = {:.6g} × first{}; beyond it median {}, 90 % {}, "
                                    "most {}",
                                    found_.map->scale, offset, absolute(rest.median_s),
                                    absolute(rest.p90_s), absolute(rest.max_s))});
    }
    lines.add({"in order", fmt::format("issued {}, done {}", order_text(found_.issue_order),
                                       order_text(found_.done_order))});
    lines.add({"digest", to_string(report_.loaded.schedule.digest())});
    return text + lines.text("  ");
  }

  std::string never() const {
    std::string text;
    const auto add = [&](std::string_view where, std::span<const sched::OpId> ops) {
      if (ops.empty()) return;
      text += fmt::format("  never done in {}: {}", where, human_count(ops.size(), "op"));
      const std::size_t shown = std::min<std::size_t>(ops.size(), report_.options.ops_shown);
      for (std::size_t i = 0; i < shown; ++i) {
        text += (i == 0 ? ": " : ", ") + describe(report_.loaded.schedule, ops[i]);
      }
      text += shown == 0 || shown == ops.size() ? "\n" : ", …\n";
    };
    add("the first", found_.only_second);
    add("the second", found_.only_first);
    add("either", found_.neither);
    return text.empty() ? text : '\n' + text;
  }

  std::string ranks() const {
    std::vector<std::uint32_t> order(found_.ranks.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::size_t shown = order.size();
    std::string_view which = "";
    if (!report_.options.all_ranks && shown > kRanksShown) {
      shown = kRanksShown;
      which = ", those furthest beyond the fit";
      std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const auto beyond = [&](std::uint32_t rank) {
          return -std::abs(cleaned(found_.ranks[rank].late_s.value_or(0)));
        };
        return std::tuple(beyond(a), a) < std::tuple(beyond(b), b);
      });
    }
    Table table(std::vector<Align>(5, Align::kRight));
    table.add({"rank", "first", "second", "difference", "beyond the fit"});
    for (std::size_t i = 0; i < shown; ++i) {
      const RankComparison& rank = found_.ranks[order[i]];
      table.add({fmt::to_string(order[i]), time_text(rank.first_s), time_text(rank.second_s),
                 difference(rank.first_s, rank.second_s), late(rank.late_s)});
    }
    std::string text =
        fmt::format("\n  when ranks finished{}; beyond the fit: the median of their ops\n", which) +
        table.text("  ");
    if (shown < order.size()) {
      text += fmt::format("  … and {}; --all shows them\n",
                          human_count(order.size() - shown, "more rank"));
    }
    return text;
  }

  std::string kinds() const {
    if (found_.kinds.empty()) return "";
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                 Align::kRight, Align::kRight, Align::kRight});
    table.add({"|second − first|", "ops", "done", "90 %", "most", "duration", "90 %", "most"});
    for (const KindComparison& kind : found_.kinds) {
      std::vector<std::string> row = {std::string(sched::name(kind.kind)),
                                      fmt::to_string(kind.ops)};
      for (const AbsoluteSpread* spread : {&kind.done, &kind.duration}) {
        for (const double time_s : {spread->median_s, spread->p90_s, spread->max_s}) {
          row.push_back(spread->count == 0 ? "" : absolute(time_s));
        }
      }
      table.add(std::move(row));
    }
    return '\n' + table.text("  ");
  }

  std::string ops() const {
    Table table(
        {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
    table.add({"ops that differ most", "step", "first", "second", "difference", "beyond the fit"});
    std::uint64_t shown = 0;
    for (const OpComparison& op : found_.ops) {
      if (shown == report_.options.ops_shown || cleaned(op.difference_s()) == 0) break;
      ++shown;
      table.add({describe(report_.loaded.schedule, op.op),
                 fmt::to_string(report_.loaded.schedule.op(op.op).step), time_text(op.first_s),
                 time_text(op.second_s), difference(op.first_s, op.second_s),
                 found_.map ? late(op.second_s - found_.map->of(op.first_s)) : ""});
    }
    return shown == 0 ? "" : '\n' + table.text("  ");
  }

  const ComparisonReport& report_;
  const analysis::Comparison& found_;
  double equal_within_s_;
};

void set_order(JsonDocument& json, const std::string& name, const OrderAgreement& order) {
  json.set(name + "_pairs", order.pairs);
  json.set(name + "_same", order.same);
}

void set_spread(JsonDocument& json, const std::string& name, const AbsoluteSpread& spread) {
  json.set("median_" + name, spread.median_s);
  json.set("p90_" + name, spread.p90_s);
  json.set("max_" + name, spread.max_s);
}

void set_op(JsonDocument& json, const sched::Schedule& schedule, sched::OpId id) {
  const sched::Op& op = schedule.op(id);
  json.set("op", std::uint64_t{id.value});
  json.set("kind", sched::name(op.kind));
  json.set("rank", std::uint64_t{op.rank.value});
  json.set("step", std::uint64_t{op.step});
}

void set_traces(JsonDocument& json, const ComparisonReport& report) {
  json.begin_list("traces");
  for (const ComparedTrace* each : {&report.first, &report.second}) {
    const bool is_first = each == &report.first;
    json.begin_object();
    json.set("file", each->file);
    json.set("engine", each->trace.engine);
    json.set("platform_spec", each->trace.platform);
    json.set("delays", each->trace.delays);
    json.set("seed", each->trace.seed);
    json.set("makespan_s", is_first ? report.found.first_s : report.found.second_s);
    json.set("ops_done",
             std::uint64_t{report.found.ops.size() + (is_first ? report.found.only_first.size()
                                                               : report.found.only_second.size())});
    json.end();
  }
  json.end();
}

}  // namespace

bool ComparisonReport::ok() const {
  if (!options.within) return true;
  if (!std::isfinite(found.first_s) || !std::isfinite(found.second_s)) return false;
  return std::abs(found.second_s - found.first_s) <= *options.within * found.first_s;
}

std::string ComparisonReport::text() const { return Text(*this).text(); }

std::string ComparisonReport::document() const {
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  json.set("schedule", loaded.name);
  json.set("ok", ok());
  json.set("within", options.within);
  set_traces(json, *this);
  json.set("makespan_difference_s", found.second_s - found.first_s);
  json.set("makespan_rel_difference", relative(found.first_s, found.second_s));
  const std::optional<analysis::TimeMap>& map = found.map;
  json.set("scale", map ? std::optional(map->scale) : std::nullopt);
  json.set("offset_s", map ? std::optional(map->offset_s) : std::nullopt);
  set_spread(json, "beyond_fit_s", map ? map->rest : AbsoluteSpread{});
  set_order(json, "issue_order", found.issue_order);
  set_order(json, "done_order", found.done_order);
  json.begin_list("ranks");
  for (const RankComparison& rank : found.ranks) {
    json.begin_object();
    json.set("first_finish_s", rank.first_s);
    json.set("second_finish_s", rank.second_s);
    json.set("beyond_fit_s", rank.late_s);
    json.end();
  }
  json.end();
  json.begin_list("kinds");
  for (const KindComparison& kind : found.kinds) {
    json.begin_object();
    json.set("kind", sched::name(kind.kind));
    json.set("ops", kind.ops);
    json.set("done_in_both", kind.done.count);
    set_spread(json, "done_difference_s", kind.done);
    set_spread(json, "duration_difference_s", kind.duration);
    json.end();
  }
  json.end();
  json.begin_list("ops");
  for (std::size_t i = 0; i < std::min<std::uint64_t>(found.ops.size(), options.ops_shown); ++i) {
    const OpComparison& op = found.ops[i];
    json.begin_object();
    set_op(json, loaded.schedule, op.op);
    json.set("first_done_s", op.first_s);
    json.set("second_done_s", op.second_s);
    json.set("difference_s", op.difference_s());
    json.set("beyond_fit_s", map ? std::optional(op.second_s - map->of(op.first_s)) : std::nullopt);
    json.end();
  }
  json.end();
  json.begin_list("never_done");
  const auto add_never = [&](std::span<const sched::OpId> ops, bool in_first, bool in_second) {
    for (const sched::OpId op : ops) {
      json.begin_object();
      set_op(json, loaded.schedule, op);
      json.set("in_first", in_first);
      json.set("in_second", in_second);
      json.end();
    }
  };
  add_never(found.only_second, true, false);
  add_never(found.only_first, false, true);
  add_never(found.neither, true, true);
  json.end();
  return json.text();
}

}  // namespace slackline::cli
