// What a move of partial sums can be changed into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/synthesis/summing.h"

namespace slackline::analysis {

/// The ways in which a move is changed. None looks whether the moves still carry out the task.
enum class SumChange : std::uint8_t {
  kSource,    // it comes from another rank
  kTarget,    // it goes to another rank
  kEarlier,   // it goes before an earlier move
  kBehind,    // more or fewer sends of its target go before it
  kExchange,  // its target tells its source at once, too: in the place of what would tell it later
  kSplit,     // it becomes two
  kJoin,      // it becomes one with the next between the same two ranks
};

/// The move changed so; `drawn` says to which rank, before which move, or how far. False where it
/// cannot be.
bool change(std::uint32_t ranks, SumMoves& moves, std::size_t index, SumChange how,
            std::size_t drawn);

/// All changes of a move that have no draws: of its source, its target, its place among moves of
/// its ports, what goes before it, and to an exchange. Those that do not carry out the task are
/// left out.
std::vector<SumMoves> all_changes(const Summing& task, const SumMoves& moves, std::size_t index);

}  // namespace slackline::analysis
