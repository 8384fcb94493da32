#include "cli/tolerance_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/split.h"
#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/human.h"
#include "machine/input_text.h"

namespace slackline::cli {
namespace {

using analysis::Parameter;
using analysis::Tolerance;
using Kind = Parameter::Kind;

constexpr std::size_t kBendsShown = 2;
constexpr std::string_view kFigures =
    "latency, overhead, completion, gap, links, link=NAME, rank=R, slowdown=R or op=N";

ToleranceFigure parse_figure(std::string_view text) {
  ToleranceFigure figure{std::string(text), Kind::kLatency, {}, 0};
  for (const auto& [name, kind] :
       {std::pair{"latency", Kind::kLatency}, std::pair{"overhead", Kind::kPost},
        std::pair{"completion", Kind::kCompletion}, std::pair{"gap", Kind::kGap},
        std::pair{"links", Kind::kByteTime}}) {
    figure.kind = kind;
    if (text == name) return figure;
  }
  const std::size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  if (key == "link" && !value.empty()) {
    figure.kind = Kind::kByteTime;
    figure.link = value;
    return figure;
  }
  for (const auto& [name, kind] :
       {std::pair{"rank", Kind::kLaneTime}, std::pair{"slowdown", Kind::kSlowdown},
        std::pair{"op", Kind::kOpDelay}}) {
    if (key != name || value.empty()) continue;
    figure.kind = kind;
    figure.index = static_cast<std::uint32_t>(
        sched::parse_count(value, fmt::format("--tolerance: {}", name), 0,
                           std::numeric_limits<std::uint32_t>::max() - 1));
    return figure;
  }
  throw InputError(fmt::format("--tolerance: {} is no figure of a run; expected {}",
                               machine::in_quotes(text), kFigures));
}

Parameter parameter_of(const ToleranceFigure& figure, const machine::Wiring& wiring) {
  Parameter parameter{.kind = figure.kind};
  if (figure.kind == Kind::kOpDelay) {
    parameter.op = sched::OpId(figure.index);
  } else if (figure.kind != Kind::kByteTime) {
    parameter.rank = sched::RankId(figure.index);
  } else if (!figure.link.empty()) {
    const auto link = wiring.find_link(figure.link);
    if (!link) {
      throw InputError(
          fmt::format("--tolerance: the platform has no link {}; expected one of {}{}",
                      machine::in_quotes(figure.link), wiring.links().size(),
                      wiring.links().empty() ? "" : " such as " + wiring.links().back().name));
    }
    parameter.link = *link;
  }
  return parameter;
}

std::string_view unit_of(Kind kind) {
  return kind == Kind::kByteTime ? "s_per_byte" : kind == Kind::kSlowdown ? "1" : "s";
}

// What was added to the figure, for people.
std::string added(Kind kind, double x) {
  if (std::isinf(x)) return "any";
  if (kind == Kind::kSlowdown) return fmt::format("{}{:.4g}", x < 0 ? "−" : "+", std::abs(x));
  // What rounding leaves of nothing.
  if (std::abs(x) < (kind == Kind::kByteTime ? 1e-24 : 1e-18)) x = 0;
  return human_difference(x) + (kind == Kind::kByteTime ? "/B" : "");
}

// How much of the figure lies on the critical path.
std::string slope_text(Kind kind, double slope) {
  if (kind == Kind::kByteTime) return human_bytes(static_cast<std::uint64_t>(slope));
  if (kind == Kind::kSlowdown) return sched::human_seconds(slope);
  return fmt::format("{:.6g}", slope);
}

std::string bends(const Tolerance& tolerance, bool all) {
  const auto pieces = tolerance.makespan_at.pieces();
  const Kind kind = tolerance.parameter.kind;
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (!all && pieces[i].from <= 0) continue;
    if (!all && shown == kBendsShown) return text + ", …";
    text += fmt::format("{}{}: {}", shown == 0 ? "" : ", ", added(kind, pieces[i].from),
                        slope_text(kind, pieces[i].line.slope));
    ++shown;
  }
  return text;
}

}  // namespace

std::vector<ToleranceFigure> parse_tolerance(const std::vector<std::string>& texts) {
  std::vector<ToleranceFigure> figures;
  for (const std::string& text : texts) {
    for (const std::string_view item : base::split(text)) {
      ToleranceFigure figure = parse_figure(item);
      const bool again = std::any_of(figures.begin(), figures.end(),
                                     [&](const auto& f) { return f.text == figure.text; });
      if (again) throw InputError(fmt::format("--tolerance: {} given twice", figure.text));
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

FoundTolerances tolerances_of(const SlackRun& run, const analysis::TimedSlack& slack,
                              std::vector<ToleranceFigure> figures) {
  std::vector<Parameter> parameters;
  for (const ToleranceFigure& figure : figures) {
    parameters.push_back(parameter_of(figure, run.setting.wiring));
  }
  return {std::move(figures),
          analysis::tolerance(run.setting, run.trace, parameters, slack.wire_times),
          slack.wire_times, slack.unexplained_s};
}

void answer_tolerances(Answer& answer, const SlackRun& run, const FoundTolerances& found) {
  const double makespan_s = found.tolerances.front().makespan_s;
  const auto kind = [&](auto i) { return found.figures[i].kind; };
  const auto bearable = [&](double share) {
    return [&, share](auto i) { return found.tolerances[i].bearable(share); };
  };
  const auto shown = [&](double share) {
    return [&, share](auto i) { return added(kind(i), found.tolerances[i].bearable(share)); };
  };
  add_run(answer, run);
  add_no_promise(answer, "tolerances are", why_no_promise(run.setting));
  answer.set("wire_times", name(found.wire_times));
  answer.makespan(makespan_s);
  answer.set("unexplained_s", found.unexplained_s);
  answer.digest_row();
  if (found.unexplained_s > 1e-9 * makespan_s) {
    answer.say(
        fmt::format("  the order of this run does not explain {} of it: so much may be off\n",
                    sched::human_seconds(found.unexplained_s)));
  }
  const Columns columns = {
      {"figure", "figure", [&](auto i) { return found.figures[i].text; }, Align::kLeft},
      {nullptr, "slope",
       [&](auto i) { return slope_text(kind(i), found.tolerances[i].slopes().after); }},
      {nullptr, "for 1 %", shown(0.01)},
      {nullptr, "for 2 %", shown(0.02)},
      {nullptr, "for 5 %", shown(0.05)},
      {nullptr, "slopes from there on",
       [&](auto i) { return bends(found.tolerances[i], answer.all()); }, Align::kLeft},
      {"unit", nullptr, [&](auto i) { return unit_of(kind(i)); }},
      {"slope_for_less", nullptr,
       [&](auto i) {
         const Tolerance& of = found.tolerances[i];
         return of.makespan_at.lo() >= 0 ? Value() : Value(of.slopes().before);
       }},
      {"slope_for_more", nullptr, [&](auto i) { return found.tolerances[i].slopes().after; }},
      {"bearable_1_percent", nullptr, bearable(0.01)},
      {"bearable_2_percent", nullptr, bearable(0.02)},
      {"bearable_5_percent", nullptr, bearable(0.05)}};
  const Rows rows = rows_of(found.figures.size());
  answer.list("tolerances", rows, columns, [&](std::uint32_t i, JsonOutput& json) {
    const auto pieces = found.tolerances[i].makespan_at.pieces();
    json.set_each("piece_from", pieces, [](const auto& piece) { return piece.from; });
    json.set_each("piece_makespan_s", pieces,
                  [](const auto& piece) { return piece.line.at(piece.from); });
    json.set_each("piece_slope", pieces, [](const auto& piece) { return piece.line.slope; });
  });
  answer.table(
      "how much of a figure lies on the critical path, and how much more of it costs 1, 2 and 5 %",
      columns, rows);
}

}  // namespace slackline::cli
