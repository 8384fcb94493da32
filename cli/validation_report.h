// What `validate` found, for people, as a JSON document, as CSV and as a plot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/slack/validate.h"
#include "cli/answer.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
#include "experiments/report.h"
#include "machine/delays.h"

namespace slackline::cli {

/// A way to predict what each delay costs; several stand side by side.
struct DelayPrediction {
  std::string name;
  /// By operation: the total float. Empty if `shift_s` says what delays cost.
  std::vector<double> float_s;
  /// By operation: what a delay costs is what it has beyond this. Empty if that is the float.
  std::vector<double> trial_float_s = {};
  /// By trial; empty if the floats say it.
  std::vector<double> shift_s = {};

  double predicted_s(const analysis::Validation& validation, std::size_t trial) const {
    if (!shift_s.empty()) return shift_s[trial];
    const analysis::TrialResult& result = validation.trials[trial];
    return analysis::predicted_shift_s(result, trial_floats_s()[result.trial.op.value]);
  }
  const std::vector<double>& trial_floats_s() const {
    return trial_float_s.empty() ? float_s : trial_float_s;
  }
  /// Measured less predicted, by trial.
  std::vector<double> errors_s(const analysis::Validation& validation) const;
};

/// What an operation's error is held to.
struct ValidationTolerance {
  /// Of every operation, as a share of the makespan. Without it, those whose delay left order and
  /// rates as they were, with nothing shared, are held to analysis::exact_within_s() …
  std::optional<double> given;
  /// … and the others, for which the prediction's assumption does not hold, to this share.
  static constexpr double kElsewhere = 0.1;
  /// Of a real run: what no prediction can be held tighter than.
  std::optional<double> noise_s;
  /// Of a real run, beside that: what ranks waited for processors, and how far clocks may differ.
  /// What is beyond the rest by no more than that says nothing about a prediction.
  double unsteady_s = 0;

  double bound_s(const analysis::TrialResult& result, double makespan_s) const {
    if (noise_s) return *noise_s + given.value_or(kElsewhere) * makespan_s;
    if (given) return *given * makespan_s;
    return result.is_exact() ? analysis::exact_within_s(makespan_s) : kElsewhere * makespan_s;
  }
};

/// How often a real run was repeated, and what that came to.
struct RealRepeats {
  std::uint32_t repeats = 1;        // of each delayed run, and of the undelayed ones beside them
  std::vector<double> undelayed_s;  // makespans
  double noise_s = 0;               // MeasuredTrials::noise_s
  /// How long a rank waited for a processor in an iteration, the longest rank's, in 90 % of the
  /// runs at the most.
  double waited_s = 0;
  double clock_error_s = 0;  // the largest hw::RunResult::clock_error_s of any run
};

struct ValidationReport {
  const LoadedSchedule& loaded;
  const RunSetting& setting;
  std::string on;  // who ran it: an engine, or "run:shm"
  const analysis::Validation& validation;
  /// The first is the one that decides, and has floats.
  const std::vector<DelayPrediction>& predictions;
  ValidationTolerance tolerance;
  std::string choice;  // "100 of 544 ops (mixed, seed 0)"
  std::string delay;   // "1 % of the makespan, 1.2 us"
  std::optional<RealRepeats> real = {};
  /// cli::why_no_promise() of what was simulated; nothing of a real run, whose network nobody
  /// knows.
  std::optional<std::string> no_promise = {};
  std::vector<machine::IdleEntry> without_effect = {};  // of the plan beside the trials

  /// No operation is beyond its tolerance, but for those of which it cannot be told.
  bool ok() const { return beyond() == 0; }
  std::uint64_t beyond() const;
  /// Beyond their tolerance, by no more than ValidationTolerance::unsteady_s.
  std::uint64_t unjudged() const;

  void say(Answer& answer) const;
  std::string csv() const;
  experiments::Figure figure() const;

 private:
  std::vector<double> errors_s(std::size_t prediction = 0) const;
  std::uint64_t beyond(double more_s) const;
  std::string verdict() const;
  // How far the predictions are off, for people.
  std::string spread_table() const;
};

}  // namespace slackline::cli
