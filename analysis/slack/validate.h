// A prediction of slack held against runs that were really delayed: one operation at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/slack/timed_slack.h"
#include "machine/engine.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// Which operations are tried.
enum class OpChoice : std::uint8_t {
  kRandom,
  kLeast,  // those with the least float, in random order where it is the same
  kMost,
  kMixed,  // a third of each
};

/// `count` operations, or all if there are no more, in the order of their ids; draws with `seed`.
std::vector<sched::OpId> choose_ops(std::span<const double> float_s, OpChoice choice,
                                    std::uint32_t count, std::uint64_t seed);

/// Whether a delay of the operation has to hold its lane, for it to slip by just as much in the
/// order of the run: it takes lane time that others wait for.
bool delays_lane(const machine::Setting& setting, sched::OpId op);

/// A delay of the operation of which its issue slips by just as much, or the end of what is issued
/// as it begins: of its lane, if it takes lane time.
machine::OpDelay trial_of(const machine::Setting& setting, sched::OpId op, sched::Time by);
/// The same for every operation, in order.
std::vector<machine::OpDelay> trials_of_all(const machine::Setting& setting, sched::Time by);

/// One run: one operation, delayed once.
struct TrialResult {
  machine::OpDelay trial;
  /// What of the delay passes while the operation would wait for its lane anyway; 0 of a lane's.
  double absorbed_s = 0;
  double shift_s = 0;  // how much later the run ended; negative if it was earlier
  /// Lanes and ports were taken in the order of the run without it.
  bool order_kept = false;
  /// Large messages shared a link or, of fair NICs, a port.
  bool shared = false;
  /// No message met other rates than without it, and nothing was lost: a plan may change rates, or
  /// cut ways, at given times.
  bool rates_kept = true;

  /// Whether a prediction by floats of the machine model is exact.
  bool is_exact() const { return order_kept && !shared && rates_kept; }
};

struct Validation {
  double makespan_s = 0;  // without any trial
  std::vector<TrialResult> trials;
};

/// Runs every trial on top of the setting's delays. `trace` is the engine's run without any:
/// complete, and of this schedule (InputError otherwise). Of `runs`, jobs and progress are read.
/// Throws what the engine does.
Validation run_trials(const machine::Setting& setting, const sched::Trace& trace,
                      std::span<const machine::OpDelay> trials, const machine::Engine& engine,
                      const machine::PlanRuns& runs);

/// How far a measured shift may be off where the prediction is exact: 1e-9 of the makespan, and
/// some instants, since events within 1 ps of each other are one.
double exact_within_s(double makespan_s);

/// Of every operation, how far what a trial_of() it moves can slip: its issue, or where a delay of
/// the lane does not move that (TimedSlack::hold_float_s), its end and what is next on the lane.
std::vector<double> trial_floats_s(const machine::Setting& setting, const TimedSlack& slack);

/// max(0, d − float), with d what the issue slips by, or the lane is held longer: what the delay
/// costs while the order on lanes and ports stays as it is. `float_s` is of trial_floats_s().
double predicted_shift_s(const TrialResult& result, double float_s);

/// Measured less predicted; 0 where both say that the run never ends.
double shift_error_s(double measured_s, double predicted_s);

/// How far a prediction was off, over trials. Quantiles are of absolute values: the least that at
/// least so many trials do not exceed. All 0 over none.
struct ErrorSpread {
  std::uint64_t trials = 0;
  double median_s = 0, p90_s = 0, p99_s = 0, max_s = 0;
  double median_rel = 0, p90_rel = 0, p99_rel = 0, max_rel = 0;  // of the delay
  std::uint64_t above = 0;  // measured above what was predicted, beyond exact_within_s()
  std::uint64_t below = 0;
};

/// Measured less predicted, of every trial. `float_s` is any prediction of trial_floats_s().
std::vector<double> errors_of(const Validation& validation, std::span<const double> float_s);

/// Over the trials that `counts` takes, or all without it.
ErrorSpread spread_of(const Validation& validation, std::span<const double> errors_s,
                      const std::function<bool(const TrialResult&)>& counts = {});

}  // namespace slackline::analysis
