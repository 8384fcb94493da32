// The fewest steps in which units spread, by a search of all schedules in steps.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/synthesis/spreading.h"
#include "analysis/synthesis/step_network.h"

namespace slackline::analysis {

struct FewestSteps {
  Moves moves;                 // of one unit each, step by step
  std::uint32_t steps = 0;     // that they take
  std::uint32_t at_least = 0;  // no moves take fewer
  std::uint64_t nodes = 0;     // choices that the search looked at
};

/// The choices that a search looks at unless it is told otherwise. Where that ends it, `at_least`
/// is below `steps`: what was found may not be the best.
inline constexpr std::uint64_t kMostSearchNodes = 500'000;

/// Ranks times units: a bit for each.
inline constexpr std::uint64_t kMostSearchPlaces = 64;

/// Synchronous steps as in SCCL (Cai et al., PPoPP 2021): what a rank has at the begin of a step it
/// may send in it, one unit a step, and it receives one; links carry what they can
/// (step_network.h). The numbers of steps are tried from a lower bound on, by depth first search
/// over the largest sets of moves of a step; sets and states that are the same after a permutation
/// of units, or of ranks that the network does not tell apart, are looked at once. `known` moves
/// that spread the task are packed into steps, and where they take no more there is nothing to
/// search. Latencies play no part. The same input gives the same answer.
///
/// Throws Unsupported for more than kMostSearchPlaces.
FewestSteps fewest_steps(const Spreading& task, const StepNetwork& network,
                         std::span<const Moves> known, std::uint64_t most_nodes = kMostSearchNodes);

/// The moves, of one unit each, in as few steps as they go into one after the other, each in the
/// first step that has room for it. They spread the task.
FewestSteps packed_in_steps(const Spreading& task, const StepNetwork& network, const Moves& moves);

}  // namespace slackline::analysis
