// Collectives whose pieces have sizes of their own, as MPI's alltoallv, scatterv and gatherv.
#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// How long the pieces are.
struct PieceSizes {
  /// `sizes=SIZE`: all of one size, …
  std::uint64_t each = std::uint64_t{1} << 20;
  /// …or `sizes=FILE`: as this text file says, which has sizes between blanks, commas or ends of
  /// lines; `#` starts a comment. Of alltoallv a line for each rank, with its piece for each rank
  /// in turn; of scatterv and gatherv the root's piece for each rank, or each rank's for the root.
  std::string file;
  std::vector<std::uint64_t> listed;  // what it says, row by row
};

/// n ranks. A piece of no bytes is no message; others go in blocks. A rank's buffer has the pieces
/// that it sends, by the rank that they go to, and behind them those that come, by the rank that
/// they are from. Its own piece is copied.
///
///   alltoallv   in step s = 1 … n − 1 rank r sends rank r xor s its piece, or rank r + s where n
///   is no
///               power of two, as pairwise alltoall does
///   scatterv    the root sends each rank its piece, in the order of their distance from it
///   gatherv     the root receives them in that order
extern const PatternEntry kAlltoallvPattern;
extern const PatternEntry kScattervPattern;
extern const PatternEntry kGathervPattern;

}  // namespace slackline::sched
