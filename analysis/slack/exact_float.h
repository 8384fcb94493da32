// The float of an operation where messages share links: the largest delay that costs nothing, found
// by running it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/engines/delayed_runs.h"
#include "base/units.h"
#include "sched/ids.h"

namespace slackline::analysis {

/// What was found of one operation, delayed as trial_of() says. A delay costs nothing if the run
/// with it ends no later than the run without, but for rounding.
struct ExactFloat {
  /// No delay that was tried costs anything up to here.
  sched::Time free_until{0};
  /// The least delay that was tried and costs: float_resolution() above `free_until`, or less.
  sched::Time costs_from{0};
  /// The largest delay that was tried and costs nothing.
  sched::Time largest_free{0};

  /// Whether every delay that was tried costs something if a shorter one does. Then `free_until` is
  /// the float. Otherwise the float lies between it and `largest_free`, by what is meant.
  bool monotone() const { return largest_free == free_until; }
};

/// How exactly floats are found: 1 ps, or what the times of so long a run carry.
sched::Time float_resolution(double makespan_s);

/// Of each operation. Delays of the makespan, its half, its quarter and so on are tried first, down
/// to the resolution; then the gap between what is free and the least that costs is divided by
/// eight, again and again. `jobs` runs at a time, which changes no bit. `progress` is told how many
/// operations are done. Throws InputError for an operation that does not exist, and what the
/// runs throw.
std::vector<ExactFloat> exact_floats(const DelayedRuns& runs, std::span<const sched::OpId> ops,
                                     std::uint32_t jobs,
                                     const std::function<void(std::uint32_t)>& progress = {});

}  // namespace slackline::analysis
