// Delayed runs on a machine, where no two runs take the same time: each operation's are repeated,
// in turn with undelayed ones, and medians are compared.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/slack/validate.h"
#include "machine/delay_plan.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// Carries out the schedule with a delay plan, and answers how it went.
using MeasuredRun = std::function<sched::Trace(const machine::DelayPlan&)>;

struct MeasuredTrials {
  /// makespan_s: the median of all undelayed runs. A trial's shift is the median of its delayed
  /// runs less that of the undelayed ones beside them. Its order is kept if every rank issued its
  /// operations in the order of the undelayed run beside it, in at least half of the pairs; nothing
  /// counts as shared.
  Validation validation;
  std::vector<double> undelayed_s;  // every undelayed run's makespan, in the order they were made
  /// What a trial without any delay would come to, 90 % of the time: between the medians of the
  /// undelayed runs of one trial and of the next. Of fewer than three trials, half of what the
  /// undelayed runs differ by.
  double noise_s = 0;
};

/// `repeats` ≥ 1 pairs of runs for each trial: undelayed, delayed, undelayed, … `done` is told
/// after each pair how many there were. Throws InputError if a run does not come to its end, and
/// what the runs throw.
MeasuredTrials run_measured_trials(const sched::Schedule& schedule, const machine::DelayPlan& plan,
                                   std::span<const machine::OpDelay> trials, std::uint32_t repeats,
                                   const MeasuredRun& run,
                                   const std::function<void(std::uint32_t done)>& done = {});

}  // namespace slackline::analysis
