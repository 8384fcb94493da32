#include "cli/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/enum_names.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/table.h"
#include "machine/input_text.h"
#include "machine/platform_figures.h"
#include "machine/platform_file.h"

namespace slackline::cli {
namespace {

using analysis::Figure;
using analysis::FigureFit;
using analysis::KindFit;
using analysis::PointFit;
using analysis::Verdict;

constexpr std::size_t kOutliersShown = 8;
// How far, beside its points' own spread, a platform may be from a kind of point without a word.
constexpr double kWellMet = 0.05;

std::string_view name(Verdict verdict) {
  constexpr base::EnumNames<Verdict, 6> kVerdicts = {"measured",  "no-points", "together",
                                                     "undecided", "one-point", "vague"};
  return kVerdicts[verdict];
}

std::string_view unit(Figure figure) {
  if (analysis::is_rate(figure)) return "bytes/s";
  return figure == Figure::kInterleave ? "bytes" : "s";
}

std::string shown(Figure figure, double value) {
  if (!std::isfinite(value)) return "anything";
  if (analysis::is_rate(figure)) return sched::human_bytes_per_second(value);
  if (figure == Figure::kInterleave) return fmt::format("{:.0f} B", value);
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

double value_in(const machine::Platform& platform, Figure figure) {
  switch (figure) {
    case Figure::kPost:
      return sched::seconds(platform.o_post);
    case Figure::kComplete:
      return sched::seconds(platform.o_complete);
    case Figure::kGap:
      return sched::seconds(platform.gap);
    case Figure::kLatency:
      return sched::seconds(platform.latency);
    case Figure::kRate:
      return platform.rate.bytes_per_second();
    case Figure::kAtomicService:
      return sched::seconds(platform.atomic_service);
    case Figure::kCopyRate:
      return platform.copy_rate.bytes_per_second();
    case Figure::kCopyStart:
      return 0;
    case Figure::kInterleave:
      return static_cast<double>(platform.interleave_bytes);
  }
  return 0;
}

std::string list_of(const std::vector<Figure>& figures) {
  std::string text;
  for (const Figure figure : figures) {
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
      if (fit.figure != Figure::kInterleave && std::isfinite(fit.high))
        text += ": " + interval(fit);
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
  if (fit.figure == Figure::kCopyStart) return "";
  const double value = value_in(run.base, fit.figure);
  std::string text = fmt::format("kept from {}", on_a_line(run.base.name));
  if (fit.at_most && value > *fit.at_most) text += ", which has more";
  if (fit.at_least && value < *fit.at_least) text += ", which has less";
  return text;
}

std::string figure_table(const CalibrationRun& run) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kLeft});
  table.add({"figure", "value", "95 % interval", "points", ""});
  for (const FigureFit& fit : run.found.figures) {
    const std::string figure(analysis::name(fit.figure));
    const std::string points = fmt::to_string(fit.points);
    if (fit.verdict == Verdict::kMeasured) {
      table.add({figure, shown(fit.figure, fit.value), interval(fit), points,
                 fit.figure == Figure::kCopyStart ? "no figure of a platform" : ""});
    } else {
      const bool has = fit.figure != Figure::kCopyStart;
      table.add({figure, has ? shown(fit.figure, value_in(run.base, fit.figure)) : "",
                 has ? kept(run, fit) : "", points, "not determined: " + reason(run, fit)});
    }
  }
  return table.text("  ");
}

bool has_equation(const KindFit& kind) { return kind.kind != analysis::PointKind::kBehind; }

bool has_fit(const KindFit& kind) {
  return has_equation(kind) && kind.outliers + kind.left_out < kind.points;
}

std::string kind_table(const CalibrationRun& run) {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"kind", "points", "outliers", "residual", "platform off by"});
  for (const KindFit& kind : run.found.kinds) {
    const bool some = has_fit(kind);
    table.add({std::string(analysis::name(kind.kind)), fmt::to_string(kind.points),
               fmt::to_string(kind.outliers), some ? percent(kind.median_relative) : "",
               some ? fmt::format("{:+.2g} %", 100 * kind.platform_off) : ""});
  }
  return table.text("  ");
}

std::string outlier_lines(const CalibrationRun& run, bool all) {
  std::string text;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    const PointFit& fit = run.found.points[i];
    if (fit.weight > 0 || fit.left_out) continue;
    if (++seen > kOutliersShown && !all) continue;
    const analysis::MeasuredPoint& point = run.points[i];
    text +=
        fmt::format("  outlier: line {}, {} of {} bytes: {}", point.line,
                    analysis::name(point.kind), point.bytes, sched::human_seconds(point.seconds));
    text += fit.fitted_s > 0
                ? fmt::format(", {:.3g} times the fit's {}\n", point.seconds / fit.fitted_s,
                              sched::human_seconds(fit.fitted_s))
                : std::string(", unlike most others of its size\n");
  }
  if (seen > kOutliersShown && !all) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(seen - kOutliersShown, "more outlier"));
  }
  return text;
}

std::string contradiction_lines(const CalibrationRun& run) {
  const auto& found = run.found.contradiction;
  if (!found) return "";
  const FigureFit& rate = run.found.of(Figure::kRate);
  return fmt::format(
      "  the points contradict each other: longer streams against shorter ones say {} ({}), all "
      "together {} ({} to {})\n"
      "  the rate is that of streams; {} of long messages were left out, most of which took "
      "{:+.0f} "
      "% to {:+.0f} % more than the platform says\n",
      shown(Figure::kRate, rate.value), interval(rate), shown(Figure::kRate, found->together),
      shown(Figure::kRate, found->low), shown(Figure::kRate, found->high),
      human_count(found->left_out, "point"), 100 * found->off_low, 100 * found->off_high);
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

std::string calibration_report(const CalibrationRun& run, bool all) {
  std::string text = fmt::format("{}: {}, {}\n", run.file, human_count(run.points.size(), "point"),
                                 human_count(run.found.outliers, "outlier"));
  text += figure_table(run) + '\n' + kind_table(run);
  if (std::any_of(run.found.kinds.begin(), run.found.kinds.end(), has_equation)) {
    text += fmt::format("  residuals: median {}, worst {} (line {})\n",
                        percent(run.found.median_relative), percent(run.found.worst_relative),
                        run.points[run.found.worst].line);
  }
  return text + contradiction_lines(run) + outlier_lines(run, all) + misfit_line(run);
}

void add_calibration(const CalibrationRun& run, JsonDocument& json) {
  const analysis::Calibration& found = run.found;
  json.set("points_file", run.file);
  json.set("points", run.points.size());
  json.set("base", run.base.name);
  json.set("platform", found.platform.name);
  json.set("platform_spec", found.platform.spec());
  json.begin_list("figures");
  for (const FigureFit& fit : found.figures) {
    const bool said = fit.verdict == Verdict::kMeasured || fit.verdict == Verdict::kOnePoint ||
                      (fit.verdict == Verdict::kVague && fit.figure != Figure::kInterleave);
    const auto value = [&](double v) { return said ? std::optional(v) : std::nullopt; };
    json.begin_object();
    json.set("name", analysis::name(fit.figure));
    json.set("verdict", name(fit.verdict));
    json.set("unit", unit(fit.figure));
    json.set("value", value(fit.value));
    json.set("low", value(fit.low));
    json.set("high", value(fit.high));
    json.set("points", fit.points);
    json.set("together_with",
             fit.together_with.empty() ? std::nullopt : std::optional(list_of(fit.together_with)));
    json.set("rests_on_line", fit.verdict == Verdict::kOnePoint
                                  ? std::optional(run.points[fit.rests_on].line)
                                  : std::nullopt);
    json.set("at_least", fit.at_least);
    json.set("at_most", fit.at_most);
    json.end();
  }
  json.end();
  json.begin_list("kinds");
  for (const KindFit& kind : found.kinds) {
    const bool some = has_fit(kind);
    json.begin_object();
    json.set("name", analysis::name(kind.kind));
    json.set("points", kind.points);
    json.set("outliers", kind.outliers);
    json.set("median_residual", some ? std::optional(kind.median_relative) : std::nullopt);
    json.set("platform_off", some ? std::optional(kind.platform_off) : std::nullopt);
    json.end();
  }
  json.end();
  json.begin_list("contradictions");
  if (found.contradiction) {
    json.begin_object();
    json.set("all_low", found.contradiction->low);
    json.set("all_value", found.contradiction->together);
    json.set("all_high", found.contradiction->high);
    json.set("left_out", found.contradiction->left_out);
    json.set("off_low", found.contradiction->off_low);
    json.set("off_high", found.contradiction->off_high);
    json.end();
  }
  json.end();
  json.set("small_stream_pace_s", found.small_stream_pace_s);
  const bool any = std::any_of(found.kinds.begin(), found.kinds.end(), has_equation);
  json.set("median_residual", any ? std::optional(found.median_relative) : std::nullopt);
  json.set("worst_residual", any ? std::optional(found.worst_relative) : std::nullopt);
  json.set("worst_line", any ? std::optional(run.points[found.worst].line) : std::nullopt);
  std::vector<std::uint64_t> outliers;
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    const PointFit& fit = found.points[i];
    if (fit.weight == 0 && !fit.left_out) outliers.push_back(run.points[i].line);
  }
  json.set("outlier_lines", std::span<const std::uint64_t>(outliers));
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
