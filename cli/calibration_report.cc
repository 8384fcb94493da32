#include "cli/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/enum_names.h"
#include "base/units.h"
#include "cli/human.h"
#include "machine/input_text.h"
#include "machine/platform_file.h"

namespace slackline::cli {
namespace {

using analysis::CalibratedFigure;
using analysis::FigureFit;
using analysis::KindFit;
using analysis::PointFit;
using analysis::Verdict;

constexpr std::size_t kOutliersShown = 8;
// How far, beside its points' own spread, a platform may be from a kind of point without a word.
constexpr double kWellMet = 0.05;

std::string_view name(Verdict verdict) {
  constexpr base::EnumNames<Verdict, 7> kVerdicts = {
      "measured", "no-points", "together", "undecided", "one-point", "vague", "within"};
  return kVerdicts[verdict];
}

std::string_view unit(CalibratedFigure figure) {
  if (analysis::is_rate(figure)) return "bytes/s";
  return figure == CalibratedFigure::kInterleave ? "bytes" : "s";
}

std::string shown(CalibratedFigure figure, double value) {
  if (!std::isfinite(value)) return "anything";
  if (analysis::is_rate(figure)) return sched::human_bytes_per_second(value);
  if (figure == CalibratedFigure::kInterleave) return fmt::format("{:.0f} B", value);
  return sched::human_seconds(value);
}

std::string interval(const FigureFit& fit) {
  return fmt::format("{} to {}", shown(fit.figure, fit.low), shown(fit.figure, fit.high));
}

std::string percent(double share) { return fmt::format("{:.2g} %", 100 * share); }

// A name of the user's on one line.
std::string on_a_line(const std::string& text) {
  const std::string safe = machine::in_quotes(text);
  return safe.substr(1, safe.size() - 2) == text ? text : safe;
}

double value_in(const machine::Platform& platform, CalibratedFigure figure) {
  switch (figure) {
    case CalibratedFigure::kPost:
      return sched::seconds(platform.o_post);
    case CalibratedFigure::kComplete:
      return sched::seconds(platform.o_complete);
    case CalibratedFigure::kGap:
      return sched::seconds(platform.gap);
    case CalibratedFigure::kLatency:
      return sched::seconds(platform.latency);
    case CalibratedFigure::kRate:
      return platform.rate.bytes_per_second();
    case CalibratedFigure::kAtomicService:
      return sched::seconds(platform.atomic_service);
    case CalibratedFigure::kCopyRate:
      return platform.copy_rate.bytes_per_second();
    case CalibratedFigure::kCopyStart:
      return 0;
    case CalibratedFigure::kPostRecv:
      return sched::seconds(platform.post_of_receive());
    case CalibratedFigure::kSignal:
      return sched::seconds(platform.o_signal);
    case CalibratedFigure::kPoll:
      return sched::seconds(platform.o_poll);
    case CalibratedFigure::kMatch:
      return sched::seconds(platform.o_match);
    case CalibratedFigure::kInterleave:
      return static_cast<double>(platform.interleave_bytes);
  }
  return 0;
}

std::string list_of(const std::vector<CalibratedFigure>& figures) {
  std::string text;
  for (const CalibratedFigure figure : figures) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", analysis::name(figure));
  }
  return text;
}

// Why a figure was not measured, and what is known of it all the same.
std::string reason(const CalibrationRun& run, const FigureFit& fit) {
  std::string text;
  switch (fit.verdict) {
    case Verdict::kMeasured:
      return "";
    case Verdict::kNoPoints:
      if (!fit.at_least && !fit.at_most) text = "no points";
      break;
    case Verdict::kTogether:
      text = "known only together with " + list_of(fit.together_with);
      break;
    case Verdict::kUndecided:
      text = fmt::format("streams need {} a message, for o_post or for gap",
                         sched::human_seconds(run.found.small_stream_pace_s.value_or(0)));
      break;
    case Verdict::kOnePoint:
      text = fmt::format("only line {} says {}", run.points[fit.rests_on].line,
                         shown(fit.figure, fit.value));
      break;
    case Verdict::kVague:
      text = "too uncertain";
      if (fit.figure != CalibratedFigure::kInterleave && std::isfinite(fit.high))
        text += ": " + interval(fit);
      break;
    case Verdict::kWithin:
      text = "no points tell it apart from o_complete";
      break;
  }
  const auto bound = [&](std::string_view side, const std::optional<double>& value) {
    if (!value) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", side, shown(fit.figure, *value));
  };
  bound("at least", fit.at_least);
  bound("at most", fit.at_most);
  return text;
}

std::string kept(const CalibrationRun& run, const FigureFit& fit) {
  if (fit.figure == CalibratedFigure::kCopyStart) return "";
  const double value = value_in(run.base, fit.figure);
  std::string text = fmt::format("kept from {}", on_a_line(run.base.name));
  if (fit.at_most && value > *fit.at_most) text += ", which has more";
  if (fit.at_least && value < *fit.at_least) text += ", which has less";
  return text;
}

// Figures of completions that nobody measured are no rows of the table: within_line() has them.
Rows shown_figures(const CalibrationRun& run) {
  return rows_where(run.found.figures.size(), [&](auto f) {
    const FigureFit& fit = run.found.figures[f];
    const bool unasked =
        fit.figure == CalibratedFigure::kPostRecv && fit.verdict == Verdict::kNoPoints;
    return fit.verdict != Verdict::kWithin && !unasked;
  });
}

std::string within_line(const CalibrationRun& run) {
  if (run.found.of(CalibratedFigure::kComplete).points == 0) return "";
  std::vector<CalibratedFigure> within;
  for (const FigureFit& fit : run.found.figures) {
    if (fit.verdict == Verdict::kWithin) within.push_back(fit.figure);
  }
  if (within.empty()) return "";
  return fmt::format("  o_complete has in it what no points tell apart: {}\n", list_of(within));
}

Columns figure_columns(const CalibrationRun& run) {
  const auto of = [&](auto f) -> const FigureFit& { return run.found.figures[f]; };
  const auto is_measured = [of](auto f) { return of(f).verdict == Verdict::kMeasured; };
  const auto is_of_platform = [of](auto f) { return of(f).figure != CalibratedFigure::kCopyStart; };
  const auto is_said = [of](auto f) {
    return of(f).verdict == Verdict::kMeasured || of(f).verdict == Verdict::kOnePoint ||
           (of(f).verdict == Verdict::kVague && of(f).figure != CalibratedFigure::kInterleave);
  };
  const auto said = [of, is_said](double FigureFit::*value) {
    return [=](auto f) { return is_said(f) ? Value(of(f).*value) : Value(); };
  };
  return {{"name", "figure", [=](auto f) { return analysis::name(of(f).figure); }, Align::kLeft},
          {"verdict", nullptr, [=](auto f) { return name(of(f).verdict); }},
          {"unit", nullptr, [=](auto f) { return unit(of(f).figure); }},
          {nullptr, "value",
           [=, &run](auto f) {
             if (is_measured(f)) return shown(of(f).figure, of(f).value);
             return is_of_platform(f) ? shown(of(f).figure, value_in(run.base, of(f).figure)) : "";
           }},
          {nullptr, "95 % interval",
           [=, &run](auto f) {
             if (is_measured(f)) return interval(of(f));
             return is_of_platform(f) ? kept(run, of(f)) : "";
           },
           Align::kLeft},
          {"value", nullptr, said(&FigureFit::value)},
          {"low", nullptr, said(&FigureFit::low)},
          {"high", nullptr, said(&FigureFit::high)},
          {"points", "points", [=](auto f) { return of(f).points; }},
          {nullptr, "",
           [=, &run](auto f) {
             if (!is_measured(f)) return "not determined: " + reason(run, of(f));
             return std::string(is_of_platform(f) ? "" : "no figure of a platform");
           },
           Align::kLeft},
          {"together_with", nullptr,
           [=](auto f) {
             const std::vector<CalibratedFigure>& with = of(f).together_with;
             return with.empty() ? Value() : Value(list_of(with));
           }},
          {"rests_on_line", nullptr,
           [=, &run](auto f) {
             return of(f).verdict == Verdict::kOnePoint ? Value(run.points[of(f).rests_on].line)
                                                        : Value();
           }},
          {"at_least", nullptr, [=](auto f) { return of(f).at_least; }},
          {"at_most", nullptr, [=](auto f) { return of(f).at_most; }}};
}

bool has_equation(const KindFit& kind) { return kind.kind != analysis::PointKind::kBehind; }

bool has_fit(const KindFit& kind) {
  return has_equation(kind) && kind.outliers + kind.left_out < kind.points;
}

Columns kind_columns(const std::vector<KindFit>& kinds) {
  return {{"name", "kind", [&](auto k) { return analysis::name(kinds[k].kind); }, Align::kLeft},
          {"points", "points", [&](auto k) { return kinds[k].points; }},
          {"outliers", "outliers", [&](auto k) { return kinds[k].outliers; }},
          {"median_residual", "residual",
           [&](auto k) {
             const double share = kinds[k].median_relative;
             return has_fit(kinds[k]) ? Value(share).shown_as(percent(share)) : Value();
           }},
          {"platform_off", "platform off by", [&](auto k) {
             const double share = kinds[k].platform_off;
             return has_fit(kinds[k]) ? Value(share).shown_as(fmt::format("{:+.2g} %", 100 * share))
                                      : Value();
           }}};
}

Rows outliers_of(const CalibrationRun& run) {
  return rows_where(run.points.size(), [&](auto i) {
    return !(run.found.points[i].weight > 0) && !run.found.points[i].left_out;
  });
}

std::string outlier_lines(const CalibrationRun& run, bool all) {
  std::string text;
  const Rows outliers = outliers_of(run);
  const std::size_t shown = all ? outliers.size() : std::min(outliers.size(), kOutliersShown);
  for (const std::uint32_t i : std::span(outliers).first(shown)) {
    const PointFit& fit = run.found.points[i];
    const analysis::MeasuredPoint& point = run.points[i];
    text +=
        fmt::format("  outlier: line {}, {} of {} bytes: {}", point.line,
                    analysis::name(point.kind), point.bytes, sched::human_seconds(point.seconds));
    text += fit.fitted_s > 0
                ? fmt::format(", {:.3g} times the fit's {}\n", point.seconds / fit.fitted_s,
                              sched::human_seconds(fit.fitted_s))
                : std::string(", unlike most others of its size\n");
  }
  return text + rest_of(outliers.size() - shown, "more outlier");
}

std::string contradiction_lines(const CalibrationRun& run) {
  const auto& found = run.found.contradiction;
  if (!found) return "";
  const FigureFit& rate = run.found.of(CalibratedFigure::kRate);
  return fmt::format(
      "  the points contradict each other: longer streams against shorter ones say {} ({}), all "
      "together {} ({} to {})\n"
      "  the rate is that of streams; {} of long messages were left out, most of which took "
      "{:+.0f} "
      "% to {:+.0f} % more than the platform says\n",
      shown(CalibratedFigure::kRate, rate.value), interval(rate),
      shown(CalibratedFigure::kRate, found->together), shown(CalibratedFigure::kRate, found->low),
      shown(CalibratedFigure::kRate, found->high), human_count(found->left_out, "point"),
      100 * found->off_low, 100 * found->off_high);
}

// What was kept need not fit what was measured.
std::string misfit_line(const CalibrationRun& run) {
  std::string kinds;
  for (const KindFit& kind : run.found.kinds) {
    if (!has_fit(kind)) continue;
    if (std::abs(kind.platform_off) <= kWellMet + 3 * kind.median_relative) continue;
    kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", analysis::name(kind.kind));
  }
  if (kinds.empty()) return "";
  return fmt::format(
      "  the platform does not fit {}: what was kept from {} is not what this machine has\n", kinds,
      on_a_line(run.base.name));
}

}  // namespace

void answer_calibration(Answer& answer, const CalibrationRun& run) {
  const analysis::Calibration& found = run.found;
  answer.set("points_file", run.file);
  answer.set("points", run.points.size());
  answer.set("base", run.base.name);
  answer.set("platform", found.platform.name);
  answer.set("platform_spec", found.platform.spec());
  const Columns figures = figure_columns(run);
  const Rows all_figures = rows_of(found.figures.size());
  answer.list("figures", all_figures, figures);
  const Rows shown = shown_figures(run);
  answer.bare_table(figures, shown, shown.size());
  const Columns kinds = kind_columns(found.kinds);
  const Rows all_kinds = rows_of(found.kinds.size());
  answer.list("kinds", all_kinds, kinds);
  answer.table("", kinds, all_kinds, all_kinds.size());
  if (answer.json() != nullptr) {
    answer.json()->list("contradictions", rows_of(found.contradiction ? 1 : 0), [&](auto) {
      answer.set("all_low", found.contradiction->low);
      answer.set("all_value", found.contradiction->together);
      answer.set("all_high", found.contradiction->high);
      answer.set("left_out", found.contradiction->left_out);
      answer.set("off_low", found.contradiction->off_low);
      answer.set("off_high", found.contradiction->off_high);
    });
  }
  answer.set("small_stream_pace_s", found.small_stream_pace_s);
  if (std::any_of(found.kinds.begin(), found.kinds.end(), has_equation)) {
    answer.set("median_residual", found.median_relative);
    answer.set("worst_residual", found.worst_relative);
    answer.set("worst_line", run.points[found.worst].line);
    answer.say(fmt::format("  residuals: median {}, worst {} (line {})\n",
                           percent(found.median_relative), percent(found.worst_relative),
                           run.points[found.worst].line));
  } else {
    answer.set_null({"median_residual", "worst_residual", "worst_line"});
  }
  answer.set_each("outlier_lines", outliers_of(run), [&](auto i) { return run.points[i].line; });
  if (!answer.for_people()) return;
  answer.say(within_line(run) + contradiction_lines(run) + outlier_lines(run, answer.all()) +
             misfit_line(run));
}

std::string calibration_toml(const CalibrationRun& run) {
  const std::string base = on_a_line(run.base.name);
  const auto source_of = [&](std::string_view key) {
    for (const FigureFit& fit : run.found.figures) {
      if (analysis::name(fit.figure) != key) continue;
      if (fit.verdict != Verdict::kMeasured) return kept(run, fit) + ": " + reason(run, fit);
      return fmt::format("measured: 95 % interval {}, {}", interval(fit),
                         human_count(fit.points, "point"));
    }
    return "from " + base;
  };
  return machine::platform_to_toml(
      run.found.platform,
      fmt::format("calibrated on {} of {}; what they do not say is from {}",
                  human_count(run.points.size(), "point"), on_a_line(run.file), base),
      source_of);
}

std::string residual_csv(const CalibrationRun& run) {
  std::string text = "line,kind,bytes,messages,seconds,fitted_s,platform_s,residual,weight\n";
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    const analysis::MeasuredPoint& point = run.points[i];
    const PointFit& fit = run.found.points[i];
    text += fmt::format("{},{},{},{},{},", point.line, analysis::name(point.kind), point.bytes,
                        point.messages, point.seconds);
    text += fit.fitted_s > 0 ? fmt::format("{},{},{},{}\n", fit.fitted_s, fit.platform_s,
                                           fit.relative, fit.weight)
                             : fmt::format(",,,{}\n", fit.weight);
  }
  return text;
}

}  // namespace slackline::cli
