// In which steps moves of partial sums are carried out.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/synthesis/summing.h"

namespace slackline::analysis {

struct SumStep {
  std::uint32_t step = 0;
  bool late = false;             // comes behind what its target sends in that step, not before
  std::uint32_t late_steps = 0;  // of what is added: so many steps later
};

/// Of every move, as early as it can be if a rank sends one message in a step, and receives one.
/// Whatever comes before or behind a send of the same unit stands so in the steps. `units` of the
/// task; for_each_event() is true of the moves.
std::vector<SumStep> sum_steps(std::uint32_t ranks, std::uint32_t units, const SumMoves& moves);

}  // namespace slackline::analysis
