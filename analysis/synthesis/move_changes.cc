#include "analysis/synthesis/move_changes.h"

#include <algorithm>

#include "base/error.h"

namespace slackline::analysis {

using sched::RankId;

MovePlace place_of_move(const CollectiveMoves& moves, std::uint32_t number) {
  if (!moves.summing.empty()) throw InternalError("synthesis: moves of sums have no halves");
  const std::size_t reducing = moves.reducing.size();
  if (number < reducing) return {&CollectiveMoves::reducing, reducing - 1 - number};
  return {&CollectiveMoves::spreading, number - reducing};
}

std::vector<RankId> others_with(const Spreading& task, const Moves& moves, std::size_t index) {
  const Move& move = moves[index];
  std::vector<std::size_t> has(task.ranks);
  for (const std::uint32_t unit : move.units) {
    ++has[task.owner[unit].value];
    for (std::size_t i = 0; i < index; ++i) {
      const std::vector<std::uint32_t>& units = moves[i].units;
      if (std::binary_search(units.begin(), units.end(), unit)) ++has[moves[i].dst.value];
    }
  }
  std::vector<RankId> others;
  for (std::uint32_t r = 0; r < task.ranks; ++r) {
    if (has[r] == move.units.size() && r != move.src.value) others.emplace_back(r);
  }
  return others;
}

std::vector<std::size_t> same_ports_before(const Moves& moves, std::size_t index) {
  std::vector<std::size_t> found;
  for (std::size_t i = index; i-- > 0;) {
    if (moves[i].src == moves[index].src || moves[i].dst == moves[index].dst) found.push_back(i);
  }
  return found;
}

void go_before(Moves& moves, std::size_t index, std::size_t before) {
  const auto at = [&](std::size_t i) { return moves.begin() + static_cast<std::ptrdiff_t>(i); };
  std::rotate(at(before), at(index), at(index + 1));
}

}  // namespace slackline::analysis
