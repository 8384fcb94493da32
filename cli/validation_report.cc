#include "cli/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/human.h"
#include "cli/platform_report.h"
#include "cli/simulation_report.h"
#include "cli/slack_run.h"

namespace slackline::cli {
namespace {

using analysis::ErrorSpread;
using analysis::TrialResult;

constexpr std::size_t kWorstShown = 8;

std::string signed_seconds(double time_s) {
  return fmt::format("{}{}", time_s < 0 ? "−" : "", sched::human_seconds(std::abs(time_s)));
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.3g} %", 100 * share) : "never";
}

// Errors below what two sums of a run's times differ by say nothing.
double cleaned_s(double error_s, double makespan_s) {
  return std::abs(error_s) <= 1e-12 * makespan_s ? 0.0 : error_s;
}

}  // namespace

std::vector<double> DelayPrediction::errors_s(const analysis::Validation& validation) const {
  if (shift_s.empty()) return analysis::errors_of(validation, trial_floats_s());
  std::vector<double> errors;
  for (std::size_t i = 0; i < validation.trials.size(); ++i) {
    errors.push_back(analysis::shift_error_s(validation.trials[i].shift_s, shift_s[i]));
  }
  return errors;
}

std::vector<double> ValidationReport::errors_s(std::size_t prediction) const {
  std::vector<double> errors = predictions[prediction].errors_s(validation);
  for (double& error_s : errors) error_s = cleaned_s(error_s, validation.makespan_s);
  return errors;
}

std::uint64_t ValidationReport::beyond() const { return beyond(tolerance.unsteady_s); }

std::uint64_t ValidationReport::unjudged() const { return beyond(0) - beyond(); }

std::string ValidationReport::verdict() const {
  if (const std::uint64_t outside = beyond()) {
    return fmt::format("no: {} beyond it", human_count(outside, "op"));
  }
  const std::uint64_t open = unjudged();
  if (open == 0) return "yes";
  std::string text = fmt::format(
      "not judged of {}: beyond it, by no more than ranks waited for a "
      "processor ({})",
      human_count(open, "op"), sched::human_seconds(real->waited_s));
  if (real->clock_error_s > 0) {
    text += fmt::format(" and clocks may differ ({})", sched::human_seconds(real->clock_error_s));
  }
  return text;
}

std::uint64_t ValidationReport::beyond(double more_s) const {
  const std::vector<double> errors = errors_s();
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double bound_s = tolerance.bound_s(validation.trials[i], validation.makespan_s) + more_s;
    // An error that is no number is beyond any.
    if (!(std::abs(errors[i]) <= bound_s)) ++count;
  }
  return count;
}

void ValidationReport::say(Answer& answer) const {
  const double makespan_s = validation.makespan_s;
  const std::vector<TrialResult>& trials = validation.trials;
  const std::vector<double> errors = errors_s();
  const std::uint64_t outside = beyond();
  answer.set("schedule", loaded.name);
  answer.set("on", on);
  if (!real || predictions.size() > 1) {
    add_platform_rows(answer.head(), setting.platform.name, setting.platform,
                      loaded.schedule.rank_count());
  }
  if (answer.json()) set_platform(*answer.json(), setting.platform, loaded.schedule.rank_count());
  answer.row("on", real ? fmt::format("{}, {} each, in turn with undelayed runs", on,
                                      human_count(real->repeats, "time"))
                        : on);
  add_delays(answer, setting.delays, without_effect);
  add_no_promise(answer, "predictions by floats are", no_promise);
  answer.set("ok", ok());
  answer.set("checked", trials.size());
  answer.set("beyond_tolerance", outside);
  answer.set("tolerance", tolerance.given);
  answer.makespan(makespan_s);
  if (real) {
    answer.set("repeats", real->repeats);
    answer.set("noise_s", real->noise_s);
    answer.set("undelayed_s", real->undelayed_s);
    answer.set("processor_wait_s", real->waited_s);
    answer.set("clock_error_s", real->clock_error_s);
    answer.set("unjudged", unjudged());
    std::vector<double> sorted_s = real->undelayed_s;
    std::sort(sorted_s.begin(), sorted_s.end());
    const auto quantile = [&](std::size_t percent) {
      return sorted_s.empty() ? 0.0 : sorted_s[(sorted_s.size() - 1) * percent / 100];
    };
    answer.row("noise",
               fmt::format("{}: a trial without delay comes to that, 90 % of the time; undelayed "
                           "runs take {} … {}",
                           sched::human_seconds(real->noise_s), sched::human_seconds(quantile(10)),
                           sched::human_seconds(quantile(90))));
  }
  answer.row("checked", choice);
  answer.row("delay", delay);
  answer.row(
      "tolerance",
      tolerance.noise_s ? fmt::format("the noise and {:g} of the makespan",
                                      tolerance.given.value_or(ValidationTolerance::kElsewhere))
      : tolerance.given ? fmt::format("{:g} of the makespan", *tolerance.given)
                        : fmt::format("1e-9 of the makespan where the order held, {:g} elsewhere",
                                      ValidationTolerance::kElsewhere));
  answer.row("ok", verdict());
  answer.digest_row();

  // How far each prediction is off.
  const auto set_spread = [&](JsonOutput& json, const ErrorSpread& s) {
    json.set("max_abs_error_s", s.max_s);
    json.set("median_abs_error_s", s.median_s);
    json.set("p90_abs_error_s", s.p90_s);
    json.set("p99_abs_error_s", s.p99_s);
    json.set("median_rel_error", s.median_rel);
    json.set("p90_rel_error", s.p90_rel);
    json.set("p99_rel_error", s.p99_rel);
    json.set("max_rel_error", s.max_rel);
  };
  if (JsonOutput* json = answer.json()) {
    set_spread(*json, analysis::spread_of(validation, errors));
    json->list("predictions", rows_of(predictions.size()), [&](std::uint32_t p) {
      json->set("name", predictions[p].name);
      set_spread(*json, analysis::spread_of(validation, errors_s(p)));
    });
  }
  answer.set("order_kept",
             rows_where(trials.size(), [&](auto i) { return trials[i].order_kept; }).size());
  answer.set("shared", rows_where(trials.size(), [&](auto i) { return trials[i].shared; }).size());
  if (answer.for_people() && !trials.empty()) answer.say('\n' + spread_table());

  const DelayPrediction& deciding = predictions.front();
  const auto op = [&](auto i) { return trials[i].trial.op; };
  const auto signed_cleaned = [&](double time_s) {
    return signed_seconds(cleaned_s(time_s, makespan_s));
  };
  Columns columns = op_columns(loaded.schedule, op);
  for (Column& column : columns) column.title = nullptr;
  const Columns more = {
      {nullptr, "", [&](auto i) { return describe(loaded.schedule, op(i)); }, Align::kLeft},
      {nullptr, "step", [&](auto i) { return loaded.schedule.op(op(i)).step; }},
      {nullptr, "float", [&](auto i) { return in_seconds(deciding.float_s[op(i).value]); }},
      {"delay_s", "delay", [&](auto i) { return in_seconds(sched::seconds(trials[i].trial.by)); }},
      {"of_lane", nullptr, [&](auto i) { return trials[i].trial.whole_lane; }},
      {"total_float_s", nullptr, [&](auto i) { return deciding.float_s[op(i).value]; }},
      {"predicted_shift_s", "predicted",
       [&](auto i) { return in_seconds(deciding.predicted_s(validation, i)); }},
      {nullptr, "measured", [&](auto i) { return signed_cleaned(trials[i].shift_s); }},
      {"measured_shift_s", nullptr, [&](auto i) { return trials[i].shift_s; }},
      {nullptr, "error", [&](auto i) { return signed_seconds(errors[i]); }},
      {"error_s", nullptr, [&](auto i) { return errors[i]; }},
      {"order_kept", nullptr, [&](auto i) { return trials[i].order_kept; }},
      {nullptr, "order", [&](auto i) { return trials[i].order_kept ? "kept" : "changed"; },
       Align::kLeft},
      {"shared", nullptr, [&](auto i) { return trials[i].shared; }},
      {"rates_kept", nullptr, [&](auto i) { return trials[i].rates_kept; }}};
  columns.insert(columns.end(), more.begin(), more.end());
  answer.list("ops", rows_of(trials.size()), columns);
  Rows worst = most_first(
      rows_where(
          trials.size(),
          [&](auto i) { return std::abs(errors[i]) > analysis::exact_within_s(makespan_s); }),
      [&](auto i) { return std::abs(errors[i]); });
  if (worst.empty()) return;
  const std::string title =
      human_count(worst.size(), "op") + " predicted otherwise than measured, worst first";
  worst.resize(std::min(worst.size(), kWorstShown));
  answer.table(title, columns, worst);
}

std::string ValidationReport::spread_table() const {
  Table table(std::vector<Align>{Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                                 Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"|measured − predicted|", "ops", "median", "90 %", "99 %", "max", "of the delay",
             "above, below"});
  const auto add = [&](const std::string& name, const ErrorSpread& s) {
    if (s.trials == 0) return;
    table.add({name, fmt::to_string(s.trials), sched::human_seconds(s.median_s),
               sched::human_seconds(s.p90_s), sched::human_seconds(s.p99_s),
               sched::human_seconds(s.max_s), percent(s.max_rel),
               fmt::format("{}, {}", s.above, s.below)});
  };
  for (std::size_t p = 0; p < predictions.size(); ++p) {
    const std::vector<double> of = errors_s(p);
    if (predictions.size() > 1) table.add({predictions[p].name});
    add("all", analysis::spread_of(validation, of));
    const auto kept = [](const TrialResult& r) { return r.is_exact(); };
    const auto rates = [](const TrialResult& r) {
      return r.order_kept && !r.shared && !r.rates_kept;
    };
    const auto shared = [](const TrialResult& r) { return r.order_kept && r.shared; };
    const auto changed = [](const TrialResult& r) { return !r.order_kept; };
    add("  order kept", analysis::spread_of(validation, of, kept));
    add("  order kept, rates changed", analysis::spread_of(validation, of, rates));
    add("  order kept, links shared", analysis::spread_of(validation, of, shared));
    add("  order changed", analysis::spread_of(validation, of, changed));
  }
  return table.text("  ");
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
