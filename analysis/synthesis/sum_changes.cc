#include "analysis/synthesis/sum_changes.h"

#include <algorithm>
#include <utility>

namespace slackline::analysis {
namespace {

using sched::RankId;

std::vector<std::size_t> same_ports_before(const SumMoves& moves, std::size_t index) {
  std::vector<std::size_t> found;
  for (std::size_t i = index; i-- > 0;) {
    if (moves[i].src == moves[index].src || moves[i].dst == moves[index].dst) found.push_back(i);
  }
  return found;
}

auto place_in(SumMoves& moves, std::size_t index) {
  return moves.begin() + static_cast<std::ptrdiff_t>(index);
}

bool go_earlier(SumMoves& moves, std::size_t index, std::size_t drawn) {
  const std::vector<std::size_t> earlier = same_ports_before(moves, index);
  if (earlier.empty()) return false;
  std::rotate(place_in(moves, earlier[drawn % earlier.size()]), place_in(moves, index),
              place_in(moves, index + 1));
  return true;
}

bool other_rank(std::uint32_t ranks, const SumMove& move, RankId& end, std::size_t drawn) {
  if (ranks < 3) return false;
  std::uint32_t rank = static_cast<std::uint32_t>(drawn % ranks);
  while (RankId(rank) == move.src || RankId(rank) == move.dst) rank = (rank + 1) % ranks;
  end = RankId(rank);
  return true;
}

// The last that goes before it is the answer.
bool exchange(SumMoves& moves, std::size_t index) {
  SumMove back{moves[index].dst, moves[index].src, moves[index].units, true, 0};
  if (!moves[index].adds) return false;
  const auto later = std::find_if(place_in(moves, index + 1), moves.end(), [&](const SumMove& m) {
    return !m.adds && m.dst == back.dst && m.units == back.units;
  });
  if (later != moves.end()) moves.erase(later);
  moves[index].behind = 1;
  moves.insert(place_in(moves, index + 1), std::move(back));
  return true;
}

bool split(SumMoves& moves, std::size_t index) {
  if (moves[index].units.size() < 2) return false;
  SumMove second = moves[index];
  const auto middle = static_cast<std::ptrdiff_t>(second.units.size() / 2);
  moves[index].units.resize(static_cast<std::size_t>(middle));
  second.units.erase(second.units.begin(), second.units.begin() + middle);
  moves.insert(place_in(moves, index + 1), std::move(second));
  return true;
}

bool join(SumMoves& moves, std::size_t index) {
  SumMove& move = moves[index];
  const auto next = std::find_if(place_in(moves, index + 1), moves.end(), [&](const SumMove& m) {
    return m.src == move.src && m.dst == move.dst && m.adds == move.adds;
  });
  if (next == moves.end()) return false;
  move.units.insert(move.units.end(), next->units.begin(), next->units.end());
  std::sort(move.units.begin(), move.units.end());
  // Of a unit twice there is no one message.
  if (std::adjacent_find(move.units.begin(), move.units.end()) != move.units.end()) return false;
  move.behind = std::max(move.behind, next->behind);
  moves.erase(next);
  return true;
}

}  // namespace

bool change(std::uint32_t ranks, SumMoves& moves, std::size_t index, SumChange how,
            std::size_t drawn) {
  SumMove& move = moves[index];
  switch (how) {
    case SumChange::kSource:
      return other_rank(ranks, move, move.src, drawn);
    case SumChange::kTarget:
      return other_rank(ranks, move, move.dst, drawn);
    case SumChange::kEarlier:
      return go_earlier(moves, index, drawn);
    case SumChange::kBehind:
      if (!move.adds) return false;
      move.behind = move.behind != 0 && drawn % 2 == 0 ? move.behind - 1 : move.behind + 1;
      return true;
    case SumChange::kExchange:
      return exchange(moves, index);
    case SumChange::kSplit:
      return split(moves, index);
    case SumChange::kJoin:
      return join(moves, index);
  }
  return false;
}

std::vector<SumMoves> all_changes(const Summing& task, const SumMoves& moves, std::size_t index) {
  std::vector<SumMoves> found;
  const auto consider = [&](SumChange how, std::size_t drawn) {
    SumMoves changed = moves;
    if (change(task.ranks, changed, index, how, drawn) && sums(task, changed)) {
      found.push_back(std::move(changed));
    }
  };
  for (std::uint32_t r = 0; r < task.ranks; ++r) {
    if (RankId(r) == moves[index].src || RankId(r) == moves[index].dst) continue;
    consider(SumChange::kSource, r);
    consider(SumChange::kTarget, r);
  }
  const std::size_t places = same_ports_before(moves, index).size();
  for (std::size_t i = 0; i < places; ++i) consider(SumChange::kEarlier, i);
  consider(SumChange::kBehind, 0);
  if (moves[index].behind != 0) consider(SumChange::kBehind, 1);
  consider(SumChange::kExchange, 0);
  return found;
}

}  // namespace slackline::analysis
