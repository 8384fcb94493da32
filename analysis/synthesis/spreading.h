// Who tells whom what: pieces of data that every rank is to have in the end, and the moves that
// bring them there.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/ids.h"

namespace slackline::analysis {

/// Every unit has one rank that has it at first, and is to get to all ranks: of a multicast that is
/// the root, of an allgather the rank that the share is of.
struct Spreading {
  std::uint32_t ranks = 1;
  std::vector<sched::RankId> owner;  // of every unit
  std::vector<std::uint64_t> bytes;  // of every unit

  std::uint32_t units() const { return static_cast<std::uint32_t>(owner.size()); }
};

/// One message; its units in ascending order, at least one.
struct Move {
  sched::RankId src;
  sched::RankId dst;
  std::vector<std::uint32_t> units;
  friend bool operator==(const Move&, const Move&) = default;
};

/// In an order in which they can be carried out. Ports work in that order, too.
using Moves = std::vector<Move>;

/// Whether each move's source has its units by then, no rank gets one that it has, and all ranks
/// have all in the end.
bool spreads(const Spreading& task, const Moves& moves);

}  // namespace slackline::analysis
