#include "cli/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/platform_report.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

using analysis::ErrorSpread;
using analysis::TrialResult;

constexpr std::size_t kWorstShown = 8;

std::string signed_seconds(double time_s) {
  return fmt::format("{}{}", time_s < 0 ? "−" : "", sched::human_seconds(std::abs(time_s)));
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

// Errors below what two sums of a run's times differ by say nothing.
double cleaned_s(double error_s, double makespan_s) {
  return std::abs(error_s) <= 1e-12 * makespan_s ? 0.0 : error_s;
}

}  // namespace

std::vector<double> DelayPrediction::errors_s(const analysis::Validation& validation) const {
  if (shift_s.empty()) return analysis::errors_of(validation, float_s);
  std::vector<double> errors;
  for (std::size_t i = 0; i < validation.trials.size(); ++i) {
    errors.push_back(validation.trials[i].shift_s - shift_s[i]);
  }
  return errors;
}

std::vector<double> ValidationReport::errors_s(std::size_t prediction) const {
  std::vector<double> errors = predictions[prediction].errors_s(validation);
  for (double& error_s : errors) error_s = cleaned_s(error_s, validation.makespan_s);
  return errors;
}

std::uint64_t ValidationReport::beyond() const {
  const std::vector<double> errors = errors_s();
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double bound_s = tolerance.bound_s(validation.trials[i], validation.makespan_s);
    // An error that is no number is beyond any.
    if (!(std::abs(errors[i]) <= bound_s)) ++count;
  }
  return count;
}

std::string ValidationReport::text() const {
  const double makespan_s = validation.makespan_s;
  const std::uint64_t outside = beyond();
  Table head({Align::kLeft, Align::kLeft});
  if (!real || predictions.size() > 1) {
    add_platform_rows(head, setting.platform.name, setting.platform, loaded.schedule.rank_count());
  }
  head.add({"on", real ? fmt::format("{}, {} each, in turn with undelayed runs", on,
                                     human_count(real->repeats, "time"))
                       : on});
  head.add(
      {"makespan", fmt::format("{} ({:.9g} s)", sched::human_seconds(makespan_s), makespan_s)});
  if (real) {
    std::vector<double> sorted_s = real->undelayed_s;
    std::sort(sorted_s.begin(), sorted_s.end());
    const auto quantile = [&](std::size_t percent) {
      return sorted_s.empty() ? 0.0 : sorted_s[(sorted_s.size() - 1) * percent / 100];
    };
    head.add({"noise",
              fmt::format("{}: a trial without delay comes to that, 90 % of the time; undelayed "
                          "runs take {} … {}",
                          sched::human_seconds(real->noise_s), sched::human_seconds(quantile(10)),
                          sched::human_seconds(quantile(90)))});
  }
  head.add({"checked", choice});
  head.add({"delay", delay});
  const std::string bounds =
      tolerance.noise_s ? fmt::format("the noise and {:g} of the makespan",
                                      tolerance.given.value_or(ValidationTolerance::kElsewhere))
      : tolerance.given ? fmt::format("{:g} of the makespan", *tolerance.given)
                        : fmt::format("1e-9 of the makespan where the order held, {:g} elsewhere",
                                      ValidationTolerance::kElsewhere);
  head.add({"tolerance", bounds});
  head.add({"ok", outside == 0 ? std::string("yes")
                               : fmt::format("no: {} beyond it", human_count(outside, "op"))});
  head.add({"digest", to_string(loaded.schedule.digest())});
  std::string text = loaded.name + '\n' + no_promise_line("predictions by floats are", no_promise) +
                     head.text("  ");
  if (validation.trials.empty()) return text;

  Table errors(std::vector<Align>{Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                                  Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  errors.add({"|measured − predicted|", "ops", "median", "90 %", "99 %", "max", "of the delay",
              "above, below"});
  const auto add = [&](const std::string& name, const ErrorSpread& s) {
    if (s.trials == 0) return;
    errors.add({name, fmt::to_string(s.trials), sched::human_seconds(s.median_s),
                sched::human_seconds(s.p90_s), sched::human_seconds(s.p99_s),
                sched::human_seconds(s.max_s), percent(s.max_rel),
                fmt::format("{}, {}", s.above, s.below)});
  };
  for (std::size_t p = 0; p < predictions.size(); ++p) {
    const std::vector<double> of = errors_s(p);
    if (predictions.size() > 1) errors.add({predictions[p].name});
    add("all", analysis::spread_of(validation, of));
    const auto kept = [](const TrialResult& r) { return r.order_kept && !r.shared; };
    const auto shared = [](const TrialResult& r) { return r.order_kept && r.shared; };
    const auto changed = [](const TrialResult& r) { return !r.order_kept; };
    add("  order kept", analysis::spread_of(validation, of, kept));
    add("  order kept, links shared", analysis::spread_of(validation, of, shared));
    add("  order changed", analysis::spread_of(validation, of, changed));
  }
  text += '\n' + errors.text("  ");

  const std::vector<double> of = errors_s();
  std::vector<std::size_t> worst;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (std::abs(of[i]) > analysis::exact_within_s(makespan_s)) worst.push_back(i);
  }
  if (worst.empty()) return text;
  std::stable_sort(worst.begin(), worst.end(),
                   [&](std::size_t a, std::size_t b) { return std::abs(of[a]) > std::abs(of[b]); });
  Table table(std::vector<Align>{Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                                 Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.add({"", "step", "float", "delay", "predicted", "measured", "error", "order"});
  for (std::size_t i = 0; i < std::min(worst.size(), kWorstShown); ++i) {
    const TrialResult& result = validation.trials[worst[i]];
    const sched::OpId op = result.trial.op;
    const double float_s = predictions.front().float_s[op.value];
    table.add({describe(loaded.schedule, op), fmt::to_string(loaded.schedule.op(op).step),
               sched::human_seconds(float_s), sched::human_seconds(sched::seconds(result.trial.by)),
               sched::human_seconds(predictions.front().predicted_s(validation, worst[i])),
               signed_seconds(cleaned_s(result.shift_s, makespan_s)), signed_seconds(of[worst[i]]),
               result.order_kept ? "kept" : "changed"});
  }
  return text +
         fmt::format("\n  {} predicted otherwise than measured, worst first:\n",
                     human_count(worst.size(), "op")) +
         table.text("  ");
}

std::string ValidationReport::document() const {
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  const std::vector<double> errors = errors_s();
  const ErrorSpread all = analysis::spread_of(validation, errors);
  json.set("schedule", loaded.name);
  json.set("on", on);
  set_platform(json, setting.platform, loaded.schedule.rank_count());
  set_no_promise(json, no_promise);
  json.set("ok", ok());
  json.set("checked", validation.trials.size());
  json.set("beyond_tolerance", beyond());
  json.set("tolerance", tolerance.given);
  json.set("makespan_s", validation.makespan_s);
  if (real) {
    json.set("repeats", real->repeats);
    json.set("noise_s", real->noise_s);
    json.set("undelayed_s", std::span<const double>(real->undelayed_s));
  }
  const auto set = [&](const ErrorSpread& s) {
    json.set("max_abs_error_s", s.max_s);
    json.set("median_abs_error_s", s.median_s);
    json.set("p90_abs_error_s", s.p90_s);
    json.set("p99_abs_error_s", s.p99_s);
    json.set("median_rel_error", s.median_rel);
    json.set("p90_rel_error", s.p90_rel);
    json.set("p99_rel_error", s.p99_rel);
    json.set("max_rel_error", s.max_rel);
  };
  set(all);
  json.begin_list("predictions");
  for (std::size_t p = 0; p < predictions.size(); ++p) {
    json.begin_object();
    json.set("name", predictions[p].name);
    set(analysis::spread_of(validation, errors_s(p)));
    json.end();
  }
  json.end();
  const auto count = [&](const auto& counts) {
    return static_cast<std::uint64_t>(
        std::count_if(validation.trials.begin(), validation.trials.end(), counts));
  };
  json.set("order_kept", count([](const TrialResult& r) { return r.order_kept; }));
  json.set("shared", count([](const TrialResult& r) { return r.shared; }));
  json.begin_list("ops");
  for (std::size_t i = 0; i < validation.trials.size(); ++i) {
    const TrialResult& result = validation.trials[i];
    const sched::OpId id = result.trial.op;
    const sched::Op& op = loaded.schedule.op(id);
    const double float_s = predictions.front().float_s[id.value];
    json.begin_object();
    json.set("op", std::uint64_t{id.value});
    json.set("kind", sched::name(op.kind));
    json.set("rank", std::uint64_t{op.rank.value});
    json.set("step", std::uint64_t{op.step});
    json.set("delay_s", sched::seconds(result.trial.by));
    json.set("of_lane", result.trial.whole_lane);
    json.set("total_float_s", float_s);
    json.set("predicted_shift_s", predictions.front().predicted_s(validation, i));
    json.set("measured_shift_s", result.shift_s);
    json.set("error_s", errors[i]);
    json.set("order_kept", result.order_kept);
    json.set("shared", result.shared);
    json.end();
  }
  json.end();
  return json.text();
}

std::string ValidationReport::csv() const {
  std::string text = "op,kind,rank,step,delay_s,of_lane,measured_s,order_kept,shared";
  for (std::size_t p = 0; p < predictions.size(); ++p) {
    const std::string suffix = p == 0 ? "" : fmt::format("_{}", p + 1);
    text += fmt::format(",total_float_s{0},predicted_s{0},error_s{0}", suffix);
  }
  text += '\n';
  std::vector<std::vector<double>> errors;
  for (std::size_t p = 0; p < predictions.size(); ++p) errors.push_back(errors_s(p));
  for (std::size_t i = 0; i < validation.trials.size(); ++i) {
    const TrialResult& result = validation.trials[i];
    const sched::OpId id = result.trial.op;
    const sched::Op& op = loaded.schedule.op(id);
    text += fmt::format("{},{},{},{},{},{},{},{},{}", id.value, sched::name(op.kind), op.rank.value,
                        op.step, sched::seconds(result.trial.by), result.trial.whole_lane ? 1 : 0,
                        result.shift_s, result.order_kept ? 1 : 0, result.shared ? 1 : 0);
    for (std::size_t p = 0; p < predictions.size(); ++p) {
      const DelayPrediction& by = predictions[p];
      text +=
          fmt::format(",{},{},{}", by.float_s.empty() ? "" : fmt::to_string(by.float_s[id.value]),
                      by.predicted_s(validation, i), errors[p][i]);
    }
    text += '\n';
  }
  return text;
}

experiments::Figure ValidationReport::figure() const {
  experiments::Figure figure;
  figure.name = "validate";
  figure.title = real ? fmt::format("{} on {}", loaded.name, on)
                      : fmt::format("{} on {}, {}", loaded.name, setting.platform.name, on);
  figure.x = {"predicted shift of the makespan, us", 0};
  figure.y = {"measured shift, us", 0};
  double most_us = 0;
  const auto points = [&](const std::string& name, bool kept, std::size_t p) {
    experiments::Series series;
    series.name = name;
    series.points = true;
    for (std::size_t i = 0; i < validation.trials.size(); ++i) {
      const TrialResult& result = validation.trials[i];
      if (result.order_kept != kept) continue;
      series.add(1e6 * predictions[p].predicted_s(validation, i), 1e6 * result.shift_s);
      most_us = std::max(most_us, series.x.back());
    }
    return series;
  };
  std::vector<experiments::Series> all;
  for (std::size_t p = 0; p < predictions.size(); ++p) {
    const std::string prefix = predictions.size() > 1 ? predictions[p].name + ": " : "";
    all.push_back(points(prefix + "order kept", true, p));
    all.push_back(points(prefix + "order changed", false, p));
  }
  experiments::Series same{"as predicted", {0, most_us}, {0, most_us}, true};
  figure.series.push_back(std::move(same));
  for (experiments::Series& series : all) figure.series.push_back(std::move(series));
  return figure;
}

}  // namespace slackline::cli
