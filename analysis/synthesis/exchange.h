// Allreduces in which ranks tell each other their sums, level by level.
#pragma once

#include <cstdint>

#include "analysis/synthesis/summing.h"
#include "analysis/synthesis/ways.h"

namespace slackline::analysis {

/// What an exchange is like.
struct ExchangeTaste {
  /// The ranks are halved so often before they exchange: the others are folded into those that do.
  std::uint32_t folds = 0;
  bool threes = true;  // three ranks may exchange, each with both others, where two do not divide
  bool even = true;    // those that exchange are as far apart as they can be; else the fastest
  bool near = true;    // near ranks exchange first; else those that are far apart
  double luck = 0;     // a draw, by the longest way's time
  std::uint32_t most_units = ~0u;  // of a message

  /// One of many, by a draw from the seed; 0 is the taste above.
  static ExchangeTaste drawn(std::uint64_t seed);
};

/// Of `units` units, of at most `unit_bytes`, a greedy's allreduce: some ranks are folded into
/// near ones, along a tree; of the rest, a number without prime factors above 2 (3 with `threes`),
/// groups of 2 (3) that have the same sums tell each other, the nearest that are left each time;
/// then the folded ranks are told. Whatever the taste it carries the allreduce out. The same input
/// gives the same moves.
SumMoves exchange_moves(std::uint32_t units, std::uint64_t unit_bytes, const Ways& ways,
                        const ExchangeTaste& taste, std::uint64_t seed);

}  // namespace slackline::analysis
