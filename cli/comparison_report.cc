#include "cli/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/units.h"
#include "cli/human.h"
#include "cli/list_row.h"
#include "cli/slack_run.h"
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

Value timed(double time_s) { return Value(time_s).shown_as(time_text(time_s)); }

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

class Comparing {
 public:
  Comparing(const ComparisonReport& report, Answer& answer)
      : report_(report),
        answer_(answer),
        found_(report.found),
        // Below this two times are one: of an instant, or of the last bits of a sum.
        equal_within_s_(std::max(machine::kInstant_s, 1e-12 * largest_s())) {}

  void say() const {
    add_head();
    add_ranks();
    add_kinds();
    add_ops();
    add_never_done();
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
  Value beyond_fit(const std::optional<double>& late_s) const {
    return Value(late_s).shown_as(late(late_s));
  }

  void add_head() const {
    answer_.set("schedule", report_.loaded.name);
    answer_.set("ok", report_.ok());
    answer_.set("within", report_.options.within);
    set_traces();
    answer_.set("makespan_difference_s", found_.second_s - found_.first_s);
    answer_.set("makespan_rel_difference", relative(found_.first_s, found_.second_s));
    answer_.set("scale", found_.map ? Value(found_.map->scale) : Value());
    answer_.set("offset_s", found_.map ? Value(found_.map->offset_s) : Value());
    const AbsoluteSpread rest = found_.map ? found_.map->rest : AbsoluteSpread{};
    answer_.set("median_beyond_fit_s", rest.median_s);
    answer_.set("p90_beyond_fit_s", rest.p90_s);
    answer_.set("max_beyond_fit_s", rest.max_s);
    answer_.set("issue_order_pairs", found_.issue_order.pairs);
    answer_.set("issue_order_same", found_.issue_order.same);
    answer_.set("done_order_pairs", found_.done_order.pairs);
    answer_.set("done_order_same", found_.done_order.same);
    if (answer_.for_people()) answer_.say(head() + never());
  }

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
      if (!a.platform.empty()) add_list_row(lines, "figures", a.platform);
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

  void add_ranks() const {
    const std::vector<RankComparison>& ranks = found_.ranks;
    const Rows rows = rows_of(ranks.size());
    const bool some = !answer_.all() && ranks.size() > kRanksShown;
    const Columns columns = {
        {nullptr, "rank", [](auto r) { return r; }},
        {"first_finish_s", "first", [&](auto r) { return timed(ranks[r].first_s); }},
        {"second_finish_s", "second", [&](auto r) { return timed(ranks[r].second_s); }},
        {nullptr, "difference",
         [&](auto r) { return difference(ranks[r].first_s, ranks[r].second_s); }},
        {"beyond_fit_s", "beyond the fit", [&](auto r) { return beyond_fit(ranks[r].late_s); }}};
    answer_.list("ranks", rows, columns);
    answer_.say(fmt::format("\n  when ranks finished{}; beyond the fit: the median of their ops\n",
                            some ? ", those furthest beyond the fit" : ""));
    const auto beyond = [&](auto r) { return std::abs(cleaned(ranks[r].late_s.value_or(0))); };
    answer_.bare_table(columns, some ? most_first(rows, beyond) : rows, kRanksShown,
                       [](std::size_t left) { return human_count(left, "more rank"); });
  }

  void add_kinds() const {
    const std::vector<KindComparison>& kinds = found_.kinds;
    Columns columns = {{"kind", "|second − first|",
                        [&](auto k) { return sched::name(kinds[k].kind); }, Align::kLeft},
                       {"ops", "ops", [&](auto k) { return kinds[k].ops; }},
                       {"done_in_both", nullptr, [&](auto k) { return kinds[k].done.count; }}};
    const auto add = [&](const char* key, const char* title, AbsoluteSpread KindComparison::*of,
                         double AbsoluteSpread::*time_s) {
      columns.push_back({key, title, [this, &kinds, of, time_s](auto k) {
                           const AbsoluteSpread& spread = kinds[k].*of;
                           return Value(spread.*time_s)
                               .shown_as(spread.count == 0 ? "" : absolute(spread.*time_s));
                         }});
    };
    add("median_done_difference_s", "done", &KindComparison::done, &AbsoluteSpread::median_s);
    add("p90_done_difference_s", "90 %", &KindComparison::done, &AbsoluteSpread::p90_s);
    add("max_done_difference_s", "most", &KindComparison::done, &AbsoluteSpread::max_s);
    add("median_duration_difference_s", "duration", &KindComparison::duration,
        &AbsoluteSpread::median_s);
    add("p90_duration_difference_s", "90 %", &KindComparison::duration, &AbsoluteSpread::p90_s);
    add("max_duration_difference_s", "most", &KindComparison::duration, &AbsoluteSpread::max_s);
    const Rows rows = rows_of(kinds.size());
    answer_.list("kinds", rows, columns);
    if (!kinds.empty()) answer_.table("", columns, rows);
  }

  void add_ops() const {
    const std::vector<OpComparison>& ops = found_.ops;
    const sched::Schedule& schedule = report_.loaded.schedule;
    Columns columns = op_columns(schedule, [&](auto i) { return ops[i].op; });
    for (Column& column : columns) {
      if (column.key != std::string_view("step")) column.title = nullptr;
    }
    columns.insert(columns.begin(),
                   {nullptr, "ops that differ most",
                    [&](auto i) { return describe(schedule, ops[i].op); }, Align::kLeft});
    columns.push_back({"first_done_s", "first", [&](auto i) { return timed(ops[i].first_s); }});
    columns.push_back({"second_done_s", "second", [&](auto i) { return timed(ops[i].second_s); }});
    columns.push_back({"difference_s", "difference", [&](auto i) {
                         return Value(ops[i].difference_s())
                             .shown_as(difference(ops[i].first_s, ops[i].second_s));
                       }});
    columns.push_back({"beyond_fit_s", "beyond the fit", [&](auto i) {
                         const auto& map = found_.map;
                         return map ? beyond_fit(ops[i].second_s - map->of(ops[i].first_s))
                                    : Value();
                       }});
    Rows rows = rows_of(std::min<std::uint64_t>(ops.size(), report_.options.ops_shown));
    answer_.list("ops", rows, columns);
    const auto same =
        std::ranges::find_if(rows, [&](auto i) { return cleaned(ops[i].difference_s()) == 0; });
    rows.erase(same, rows.end());
    if (!rows.empty()) answer_.table("", columns, rows);
  }

  void add_never_done() const {
    JsonOutput* json = answer_.json();
    if (json == nullptr) return;
    json->begin_list("never_done");
    const auto add = [&](std::span<const sched::OpId> ops, bool in_first, bool in_second) {
      const Columns columns = op_columns(report_.loaded.schedule, [&](auto i) { return ops[i]; });
      for (std::uint32_t i = 0; i < ops.size(); ++i) {
        json->begin_object();
        for (const Column& column : columns) column.value(i).set(*json, column.key);
        json->set("in_first", in_first);
        json->set("in_second", in_second);
        json->end();
      }
    };
    add(found_.only_second, true, false);
    add(found_.only_first, false, true);
    add(found_.neither, true, true);
    json->end();
  }

  void set_traces() const {
    const Columns columns = {
        {"file", nullptr, [&](auto i) { return trace(i).file; }},
        {"engine", nullptr, [&](auto i) { return trace(i).trace.engine; }},
        {"platform_spec", nullptr, [&](auto i) { return trace(i).trace.platform; }},
        {"delays", nullptr, [&](auto i) { return trace(i).trace.delays; }},
        {"seed", nullptr, [&](auto i) { return trace(i).trace.seed; }},
        {"makespan_s", nullptr, [&](auto i) { return i == 0 ? found_.first_s : found_.second_s; }},
        {"ops_done", nullptr, [&](auto i) {
           return found_.ops.size() +
                  (i == 0 ? found_.only_first.size() : found_.only_second.size());
         }}};
    answer_.list("traces", {0, 1}, columns);
  }
  const NamedTrace& trace(std::uint32_t i) const { return i == 0 ? report_.first : report_.second; }

  const ComparisonReport& report_;
  Answer& answer_;
  const analysis::Comparison& found_;
  double equal_within_s_;
};

}  // namespace

bool ComparisonReport::ok() const {
  if (!options.within) return true;
  if (!std::isfinite(found.first_s) || !std::isfinite(found.second_s)) return false;
  return std::abs(found.second_s - found.first_s) <= *options.within * found.first_s;
}

void ComparisonReport::say(Answer& answer) const { Comparing(*this, answer).say(); }

}  // namespace slackline::cli
