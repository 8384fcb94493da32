// Whose processor the whole waits for: what a run would lose if one rank's own work took longer.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/engine.h"
#include "sched/ids.h"

namespace slackline::analysis {

/// Makespans of runs in which all that one rank's lanes do takes longer: posts, copies, reduces and
/// calculations.
struct RankOverhead {
  sched::RankId rank;
  double slower_s = 0;  // 1 % longer
  double twice_s = 0;   // twice as long
};

/// Of every rank, in order. A straggler of the delay plan is slower by as much of its undelayed
/// time more. `jobs` runs at a time, which changes no bit. Throws what the engine does.
std::vector<RankOverhead> rank_overheads(const machine::Setting& setting,
                                         const machine::Engine& engine, std::uint32_t jobs);

}  // namespace slackline::analysis
