// The fewest steps in which all ranks have the sum of one unit, by a search.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/synthesis/step_network.h"
#include "analysis/synthesis/summing.h"

namespace slackline::analysis {

struct FewestSumSteps {
  SumMoves moves;              // step by step
  std::uint32_t steps = 0;     // that they take
  std::uint32_t at_least = 0;  // no moves take fewer; up to ⌈log2 n⌉ nothing else does, either
  std::uint64_t nodes = 0;     // choices that the search looked at
};

/// An allreduce of one unit, as summing.h has moves: in a step a rank sends a sum that it had at
/// its begin, and receives one; links carry what they can. A rank keeps one sum, and what it has
/// got to add: it may send the sum with the first few of these added, and then has it no more
/// without them. Who keeps more sums than one may need fewer steps (bruck_allreduce.h). Numbers of
/// steps are tried from a lower bound on, depth first; states that failed are kept, and those that
/// the network's symmetries make of them. `known` moves that take no more are taken, and leave
/// nothing to search. The same input gives the same answer.
FewestSumSteps fewest_sum_steps(const StepNetwork& network, std::span<const SumMoves> known,
                                std::uint64_t most_nodes);

}  // namespace slackline::analysis
