// A schedule found by carrying it out: at every moment ports and links that are free take what
// suits them best.
#pragma once

#include <cstdint>

#include "analysis/synthesis/spreading.h"
#include "analysis/synthesis/ways.h"

namespace slackline::analysis {

/// What a move is liked for. Each is weighed against the others by its figure, from 0 on.
struct GreedyTaste {
  double fast = 1;  // it loads its links little
  double need = 1;  // its target has much to receive yet, for the rate at which it can
  double rare = 1;  // few ranks have the unit
  double near = 1;  // it brings the unit nearer to ranks that lack it
  double fit = 0;   // its source could send no faster to anybody
  double luck = 0;  // a draw
  /// A move may load its links so many times as much as the one from the nearest rank that has the
  /// unit, or is about to get it; ≥ 1.
  double detour = 1;
  std::uint32_t most_units = 1;  // of a message

  /// One of many, by a draw from the seed; 0 is the taste above.
  static GreedyTaste drawn(std::uint64_t seed);
};

/// The time-expanded greedy (after TACOS, Won et al., MICRO 2024). A port has one message at a
/// time, and a link those whose rates it can carry. At each moment in which something ends, the
/// best of the moves that can begin does, until none can. The moves stand in the order in which
/// they begin. The same task, ways, taste and seed give the same moves. Needs O(moves · ranks² ·
/// units) at most.
Moves greedy_moves(const Spreading& task, const Ways& ways, const GreedyTaste& taste,
                   std::uint64_t seed);

}  // namespace slackline::analysis
