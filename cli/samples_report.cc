#include "cli/samples_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/statistics.h"
#include "base/units.h"
#include "cli/platform_report.h"
#include "cli/simulation_report.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kRowsShown = 16;

std::vector<double> finite_of(const std::vector<double>& times_s) {
  std::vector<double> finite;
  for (const double t : times_s) {
    if (std::isfinite(t)) finite.push_back(t);
  }
  return finite;
}

std::optional<Spread> spread_of_some(std::vector<double> times_s) {
  if (times_s.empty()) return std::nullopt;
  return spread_of(std::move(times_s));
}

std::vector<double> of_rank(const machine::Samples& samples, std::uint32_t rank) {
  std::vector<double> times_s;
  for (std::uint32_t i = 0; i < samples.makespan_s.size(); ++i) {
    times_s.push_back(samples.finish_s(i)[rank]);
  }
  return finite_of(times_s);
}

std::string exactness(const machine::Samples& samples, const Approximation& a) {
  const std::size_t count = samples.makespan_s.size();
  std::string text = fmt::format("{} of {}", count - a.inexact, count);
  if (a.compared != 0) {
    text += fmt::format("; {} of the others were run exactly, too: off by at most {:.2g} %",
                        a.compared, 100 * a.worst_difference);
  }
  return text;
}

}  // namespace

Spread spread_of(std::vector<double> times_s) {
  Spread spread;
  if (times_s.empty()) return spread;
  std::sort(times_s.begin(), times_s.end());
  const double n = static_cast<double>(times_s.size());
  for (const double t : times_s) spread.mean_s += t / n;
  double squares = 0;
  for (const double t : times_s) squares += (t - spread.mean_s) * (t - spread.mean_s);
  spread.deviation_s = times_s.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  spread.min_s = times_s.front();
  spread.p5_s = base::percentile(times_s, 5);
  spread.median_s = base::median(times_s);
  spread.p95_s = base::percentile(times_s, 95);
  spread.p99_s = base::percentile(times_s, 99);
  spread.max_s = times_s.back();
  return spread;
}

void answer_samples(Answer& answer, const RunSetting& setting, const machine::Samples& samples,
                    const SamplesContext& context) {
  const auto& approximation = context.approximation;
  const std::vector<double> finished = finite_of(samples.makespan_s);
  const std::size_t count = samples.makespan_s.size();
  const std::size_t lost = count - finished.size();
  const std::uint64_t seed = setting.delays.seed;
  answer.set("schedule", answer.subject().name);
  answer.set("engine", setting.engine->name);
  add_platform(answer, setting.platform.name, setting.platform, samples.ranks);
  answer.row("engine", std::string(setting.engine->name));
  add_delays(answer, setting.delays, context.without_effect);
  answer.set("policy", machine::name(setting.policy));
  answer.set("sends_in_flight", setting.sends_in_flight);
  answer.set("may_be_contended", context.link_left_out.has_value());
  answer.set("seed", seed);
  answer.set("samples", count);
  answer.row("samples", fmt::format("{}, seeds {} to {}{}", count, seed, seed + count - 1,
                                    lost == 0 ? "" : fmt::format("; {} never ended", lost)));
  if (approximation) {
    answer.set("inexact", approximation->inexact);
    answer.set("compared", approximation->compared);
    answer.set("worst_difference",
               approximation->compared != 0 ? Value(approximation->worst_difference) : Value());
    answer.row("exact", exactness(samples, *approximation));
  }
  answer.digest_row();
  answer.set("never_ended", lost);
  if (context.link_left_out) {
    answer.say(fmt::format(
        "  messages may have shared links ({} is one), which this engine leaves out: times may be "
        "too short; --engine flow has them\n",
        *context.link_left_out));
  }

  struct Figure {
    std::string_view key;  // behind "makespan_" and "rank_finish_"
    const char* title;
    double Spread::*time_s;
  };
  constexpr Figure kFigures[] = {
      {"mean_s", "mean", &Spread::mean_s},       {"deviation_s", "deviation", &Spread::deviation_s},
      {"min_s", "min", &Spread::min_s},          {"p5_s", "5 %", &Spread::p5_s},
      {"median_s", "median", &Spread::median_s}, {"p95_s", "95 %", &Spread::p95_s},
      {"p99_s", "99 %", &Spread::p99_s},         {"max_s", "max", &Spread::max_s}};
  // The makespan, then every rank. Nothing where no run ended.
  std::vector<std::optional<Spread>> spreads{spread_of_some(finished)};
  for (std::uint32_t r = 0; r < samples.ranks; ++r) {
    spreads.push_back(spread_of_some(of_rank(samples, r)));
  }
  const auto of = [](const std::optional<Spread>& spread, double Spread::*time_s) {
    return spread ? std::optional((*spread).*time_s) : std::nullopt;
  };
  Columns columns{{nullptr, "",
                   [](auto i) { return i == 0 ? "makespan" : fmt::format("rank {}", i - 1); },
                   Align::kLeft}};
  for (const Figure& figure : kFigures) {
    answer.set(fmt::format("makespan_{}", figure.key), of(spreads.front(), figure.time_s));
    columns.push_back({nullptr, figure.title, [&spreads, of, time_s = figure.time_s](auto i) {
                         return spreads[i] ? in_seconds(of(spreads[i], time_s))
                                           : Value().shown_as("–");
                       }});
  }
  answer.set("makespan_samples_s", samples.makespan_s);
  for (const Figure& figure : kFigures) {
    answer.set_each(
        fmt::format("rank_finish_{}", figure.key), std::span(spreads).subspan(1),
        [&](const std::optional<Spread>& spread) {
          return of(spread, figure.time_s).value_or(std::numeric_limits<double>::quiet_NaN());
        });
  }
  answer.table("", columns, rows_of(spreads.size()), 1 + kRowsShown, "more rank");
}

}  // namespace slackline::cli
