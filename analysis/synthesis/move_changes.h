// What moves can be changed into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/synthesis/moved_collective.h"
#include "analysis/synthesis/spreading.h"

namespace slackline::analysis {

/// Where a move stands: in one of the halves, at its place there.
struct MovePlace {
  Moves CollectiveMoves::*half;
  std::size_t index;
};
/// Of the move that moves_of_ops() counts so: moves that reduce are carried out from the last to
/// the first.
MovePlace place_of_move(const CollectiveMoves& moves, std::uint32_t number);

/// The ranks that have all of the move's units before it, without its source.
std::vector<sched::RankId> others_with(const Spreading& task, const Moves& moves,
                                       std::size_t index);

/// The earlier moves of the ports of this one, the nearest first.
std::vector<std::size_t> same_ports_before(const Moves& moves, std::size_t index);

/// Has a move stand before an earlier one.
void go_before(Moves& moves, std::size_t index, std::size_t before);

}  // namespace slackline::analysis
