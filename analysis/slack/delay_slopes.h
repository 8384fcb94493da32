// What a small delay of one operation costs, per second of it.
//
// Where nothing is shared, one path decides when a run ends, and the slope is 1 on it and 0
// elsewhere. Where messages share links, a late one leaves its share to others, and takes from
// others later: slopes are anything, also below 0 and above 1. Symmetric schedules are full of
// ties, at which the makespan has another slope on either side. Only that for more delay is meant.
// A run with a small delay has it, since it decides each tie as the delay does.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/engines/delayed_runs.h"
#include "base/units.h"
#include "sched/ids.h"

namespace slackline::analysis {

/// A delay ε that is small enough costs `at_once_s` + `slope`·ε.
struct DelaySlope {
  /// Seconds of makespan per second of delay, rounded to what the times carry.
  double slope = 0;
  /// What the least delay costs all the same: another operation then goes first. Less than 0 where
  /// that is better for the whole.
  double at_once_s = 0;
  /// Up to how much the slope may be off by rounding, itself rounded.
  double within = 0;
  /// The largest delay for which this was seen to hold, at some smaller ones too. 0: not settled.
  /// No two delays that were tried agree on a slope, and all of the above is 0.
  sched::Time up_to{0};

  bool settled() const { return up_to.count() > 0; }
};

/// The delays that are tried: each half of the one before, so that a delay too large to be small
/// shows. Some way above 1 ps, below which two events are one instant.
inline constexpr sched::Time kLargestSmallDelay{4'096};
inline constexpr sched::Time kLeastSmallDelay{64};

/// Of each operation, delayed as trial_of() says. `jobs` runs at a time, which changes no bit.
/// Throws what DelayedRuns::makespans_s() does.
std::vector<DelaySlope> delay_slopes(const DelayedRuns& runs, std::span<const sched::OpId> ops,
                                     std::uint32_t jobs,
                                     const std::function<void(std::uint32_t)>& progress = {});

/// What costs c1, c2 and c3 of delays ε, ε/2 and ε/4 agree on; nothing settled if they do not.
/// Costs may be off by `rounding_s`.
DelaySlope slope_through(sched::Time by, double c1_s, double c2_s, double c3_s, double rounding_s);

}  // namespace slackline::analysis
