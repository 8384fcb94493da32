#include "sched/workloads/tasks/hex_board.h"

#include <utility>

#include "base/mix.h"

namespace slackline::sched {

HexBoard::HexBoard(const std::vector<std::uint8_t>& moves) {
  for (const std::uint8_t cell : moves) play(cell);
}

void HexBoard::play(std::uint32_t cell) {
  cells_[cell] = to_move();
  ++moves_;
}

std::vector<std::uint8_t> HexBoard::empty_cells() const {
  std::vector<std::uint8_t> empty;
  for (std::uint32_t cell = 0; cell < kHexCells; ++cell) {
    if (cells_[cell] == HexPlayer::kNone) empty.push_back(static_cast<std::uint8_t>(cell));
  }
  return empty;
}

bool HexBoard::joins(HexPlayer player) const {
  constexpr std::int32_t kSide = kHexSide;
  const bool down = player == HexPlayer::kFirst;
  std::array<bool, kHexCells> seen{};
  std::array<std::uint8_t, kHexCells> stack;
  std::size_t top = 0;
  const auto visit = [&](std::int32_t row, std::int32_t column) {
    if (row < 0 || column < 0 || row >= kSide || column >= kSide) return;
    const auto cell = static_cast<std::uint8_t>(row * kSide + column);
    if (seen[cell] || cells_[cell] != player) return;
    seen[cell] = true;
    stack[top++] = cell;
  };
  for (std::int32_t i = 0; i < kSide; ++i) down ? visit(0, i) : visit(i, 0);
  while (top > 0) {
    const std::int32_t cell = stack[--top];
    const std::int32_t row = cell / kSide;
    const std::int32_t column = cell % kSide;
    if ((down ? row : column) == kSide - 1) return true;
    visit(row - 1, column);
    visit(row - 1, column + 1);
    visit(row, column - 1);
    visit(row, column + 1);
    visit(row + 1, column - 1);
    visit(row + 1, column);
  }
  return false;
}

HexPlayer hex_playout(HexBoard board, std::uint64_t seed) {
  std::vector<std::uint8_t> empty = board.empty_cells();
  for (auto left = static_cast<std::uint32_t>(empty.size()); left > 1; --left) {
    std::swap(empty[left - 1], empty[below(draw(seed, {left}), left)]);
  }
  for (const std::uint8_t cell : empty) board.play(cell);
  return board.joins(HexPlayer::kFirst) ? HexPlayer::kFirst : HexPlayer::kSecond;
}

}  // namespace slackline::sched
