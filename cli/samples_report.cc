#include "cli/samples_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/platform_report.h"
#include "cli/simulation_report.h"
#include "cli/table.h"

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

std::vector<double> of_rank(const machine::Samples& samples, std::uint32_t rank) {
  std::vector<double> times_s;
  for (std::uint32_t i = 0; i < samples.makespan_s.size(); ++i) {
    times_s.push_back(samples.finish_s(i)[rank]);
  }
  return finite_of(times_s);
}

std::vector<std::string> cells(std::string name, const Spread& s) {
  std::vector<std::string> row{std::move(name)};
  for (const double t :
       {s.mean_s, s.deviation_s, s.min_s, s.p5_s, s.median_s, s.p95_s, s.p99_s, s.max_s}) {
    row.push_back(sched::human_seconds(t));
  }
  return row;
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
  const auto quantile = [&](double q) {
    const double place = std::ceil(q * n);
    return times_s[place < 1 ? 0 : static_cast<std::size_t>(place) - 1];
  };
  spread.min_s = times_s.front();
  spread.p5_s = quantile(0.05);
  spread.median_s = quantile(0.5);
  spread.p95_s = quantile(0.95);
  spread.p99_s = quantile(0.99);
  spread.max_s = times_s.back();
  return spread;
}

std::string samples_report(const Subject& subject, const RunSetting& setting,
                           const machine::Samples& samples, const SamplesContext& context,
                           bool all) {
  const auto& approximation = context.approximation;
  const std::vector<double> finished = finite_of(samples.makespan_s);
  const std::size_t lost = samples.makespan_s.size() - finished.size();
  Table head({Align::kLeft, Align::kLeft});
  add_platform_rows(head, setting.platform.name, setting.platform, samples.ranks);
  head.add({"engine", std::string(setting.engine->name)});
  if (!setting.delays.empty()) head.add({"delays", summary_of(setting.delays)});
  head.add({"samples",
            fmt::format("{}, seeds {} to {}{}", samples.makespan_s.size(), setting.delays.seed,
                        setting.delays.seed + samples.makespan_s.size() - 1,
                        lost == 0 ? "" : fmt::format("; {} never ended", lost))});
  if (approximation) head.add({"exact", exactness(samples, *approximation)});
  head.add({"digest", subject.digest.value_or("none: answered without making the schedule")});
  Table table(std::vector<Align>{Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                                 Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                                 Align::kRight});
  table.add({"", "mean", "deviation", "min", "5 %", "median", "95 %", "99 %", "max"});
  table.add(cells("makespan", spread_of(finished)));
  const std::uint32_t rows =
      all ? samples.ranks : std::min<std::uint32_t>(samples.ranks, kRowsShown);
  for (std::uint32_t r = 0; r < rows; ++r) {
    table.add(cells(fmt::format("rank {}", r), spread_of(of_rank(samples, r))));
  }
  std::string text = subject.name + '\n' + head.text("  ");
  if (context.link_left_out) {
    text += fmt::format(
        "  messages may have shared links ({} is one), which this engine leaves out: times may be "
        "too short; --engine flow has them\n",
        *context.link_left_out);
  }
  text += '\n' + table.text("  ");
  if (rows < samples.ranks) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(samples.ranks - rows, "more rank"));
  }
  return text;
}

std::string samples_document(const Subject& subject, const RunSetting& setting,
                             const machine::Samples& samples, const SamplesContext& context) {
  const auto& approximation = context.approximation;
  const std::vector<double> finished = finite_of(samples.makespan_s);
  const Spread spread = spread_of(finished);
  const bool any = !finished.empty();
  JsonDocument json(subject.digest, subject.proved);
  json.set("schedule", subject.name);
  json.set("engine", setting.engine->name);
  set_platform(json, setting.platform, samples.ranks);
  json.set("policy", machine::name(setting.policy));
  json.set("sends_in_flight", std::uint64_t{setting.sends_in_flight});
  json.set("may_be_contended", context.link_left_out.has_value());
  json.set("seed", setting.delays.seed);
  json.set("samples", samples.makespan_s.size());
  if (approximation) {
    json.set("inexact", std::uint64_t{approximation->inexact});
    json.set("compared", std::uint64_t{approximation->compared});
    json.set("worst_difference", approximation->compared != 0
                                     ? std::optional(approximation->worst_difference)
                                     : std::nullopt);
  }
  json.set("never_ended", samples.makespan_s.size() - finished.size());
  const auto set = [&](std::string_view key, double value) {
    json.set(key, any ? std::optional(value) : std::nullopt);
  };
  set("makespan_mean_s", spread.mean_s);
  set("makespan_deviation_s", spread.deviation_s);
  set("makespan_min_s", spread.min_s);
  set("makespan_p5_s", spread.p5_s);
  set("makespan_median_s", spread.median_s);
  set("makespan_p95_s", spread.p95_s);
  set("makespan_p99_s", spread.p99_s);
  set("makespan_max_s", spread.max_s);
  json.set("makespan_samples_s", std::span<const double>(samples.makespan_s));
  std::vector<double> rank_mean_s;
  for (std::uint32_t r = 0; r < samples.ranks; ++r) {
    rank_mean_s.push_back(spread_of(of_rank(samples, r)).mean_s);
  }
  json.set("rank_finish_mean_s", std::span<const double>(rank_mean_s));
  return json.text();
}

}  // namespace slackline::cli
