#include "sched/workloads/tasks/hex_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/mix.h"

namespace slackline::sched {

double log_of_count(std::uint32_t count) {
  const int power = std::bit_width(count) - 1;
  const double rest = static_cast<double>(count) / static_cast<double>(1ull << power);  // [1, 2)
  const double x = (rest - 1) / (rest + 1);
  double sum = 0;
  for (int k = 41; k >= 1; k -= 2) sum = sum * x * x + 1.0 / k;
  return 0.6931471805599453 * power + 2 * x * sum;
}

HexTree::HexTree(std::uint32_t ranks, std::uint64_t seed) : ranks_(ranks), seed_(seed) {
  vertices_.emplace_back();
  vertices_[0].owner = below(draw(seed_, {0, 0}), ranks_);
  fill_untried(0);
}

void HexTree::fill_untried(std::uint32_t id) {
  std::vector<std::uint8_t> moves = board_of(id).empty_cells();
  for (auto left = static_cast<std::uint32_t>(moves.size()); left > 1; --left) {
    std::swap(moves[left - 1], moves[below(draw(seed_, {1, id, left}), left)]);
  }
  vertices_[id].untried = std::move(moves);
}

HexBoard HexTree::board_of(std::uint32_t id) const {
  std::vector<std::uint8_t> moves;
  for (; id != 0; id = vertices_[id].parent) moves.push_back(vertices_[id].move);
  std::reverse(moves.begin(), moves.end());
  return HexBoard(moves);
}

std::uint32_t HexTree::add_child(std::uint32_t id) {
  const std::uint32_t child = size();
  HexVertex made;
  made.parent = id;
  made.owner = below(draw(seed_, {0, child}), ranks_);
  made.move = vertices_[id].untried.back();
  made.mover = vertices_[id].mover == HexPlayer::kFirst ? HexPlayer::kSecond : HexPlayer::kFirst;
  vertices_.push_back(std::move(made));
  vertices_[id].untried.pop_back();
  vertices_[id].children.push_back(child);
  const HexBoard board = board_of(child);
  // Where the game has ended there is nothing to try.
  if (!board.joins(HexPlayer::kFirst) && !board.joins(HexPlayer::kSecond)) fill_untried(child);
  return child;
}

HexTree::Step HexTree::descend(std::uint32_t id) {
  ++vertices_[id].under_way;
  if (!vertices_[id].untried.empty()) {
    const std::uint32_t child = add_child(id);
    ++vertices_[child].under_way;
    return {child, true};
  }
  if (vertices_[id].children.empty()) return {id, true};
  const HexVertex& here = vertices_[id];
  std::uint32_t best = here.children.front();
  double best_bound = -1;
  for (const std::uint32_t c : here.children) {
    const HexVertex& child = vertices_[c];
    const std::uint32_t tries = child.visits + child.under_way;  // those under way count as lost
    if (tries == 0) {
      best = c;
      break;
    }
    const double bound = static_cast<double>(child.wins) / tries +
                         std::sqrt(2 * log_of_count(here.visits + here.under_way) / tries);
    if (bound > best_bound) {
      best_bound = bound;
      best = c;
    }
  }
  return {best, false};
}

std::uint32_t HexTree::play_out(std::uint32_t id, std::uint32_t playouts, std::uint64_t rollout) {
  const HexBoard board = board_of(id);
  std::uint32_t first = 0;
  for (std::uint32_t p = 0; p < playouts; ++p) {
    first += hex_playout(board, draw(seed_, {2, rollout, p})) == HexPlayer::kFirst ? 1 : 0;
  }
  return first;
}

void HexTree::update(std::uint32_t id, std::uint32_t playouts, std::uint32_t first_wins) {
  HexVertex& here = vertices_[id];
  --here.under_way;
  here.visits += playouts;
  here.wins += here.mover == HexPlayer::kFirst ? first_wins : playouts - first_wins;
}

}  // namespace slackline::sched
