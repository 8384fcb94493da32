// The rules of Hex: on a rhombus of cells, player 1 connects top and bottom, player 2 left and
// right. Exactly one of them does once the board is full.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace slackline::examples {

inline constexpr std::uint32_t kMostSize = 11;

inline std::uint64_t hex_mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A position, as plain bytes: it travels as a call's buffer.
struct HexBoard {
  std::uint8_t size = 0;
  std::uint8_t to_move = 1;                                 // player 1 or 2
  std::array<std::uint8_t, kMostSize * kMostSize> cells{};  // 0: empty; else the player

  std::uint32_t count() const { return static_cast<std::uint32_t>(size) * size; }

  void play(std::uint32_t cell) {
    cells[cell] = to_move;
    to_move = static_cast<std::uint8_t>(3 - to_move);
  }

  /// Whether a player's stones connect its sides.
  bool connects(std::uint8_t player) const {
    std::array<bool, kMostSize * kMostSize> seen{};
    std::array<std::uint8_t, kMostSize * kMostSize> stack{};
    std::uint32_t depth = 0;
    const auto visit = [&](int row, int column) {
      if (row < 0 || column < 0 || row >= size || column >= size) return;
      const auto cell = static_cast<std::uint8_t>(row * size + column);
      if (seen[cell] || cells[cell] != player) return;
      seen[cell] = true;
      stack[depth++] = cell;
    };
    for (int i = 0; i < size; ++i) player == 1 ? visit(0, i) : visit(i, 0);
    while (depth != 0) {
      const std::uint8_t cell = stack[--depth];
      const int row = cell / size;
      const int column = cell % size;
      if ((player == 1 ? row : column) == size - 1) return true;
      constexpr std::array<std::pair<int, int>, 6> kSteps{
          {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}}};
      for (const auto& [down, right] : kSteps) visit(row + down, column + right);
    }
    return false;
  }

  std::uint64_t hash(std::uint64_t seed) const {
    std::uint64_t h = hex_mix(seed + to_move);
    for (std::uint32_t i = 0; i < count(); ++i) h = hex_mix(h + cells[i]);
    return h;
  }

  /// Who wins if all empty cells are filled at random; the draw is a function of `seed`.
  std::uint8_t play_out(std::uint64_t seed) const {
    HexBoard board = *this;
    std::array<std::uint8_t, kMostSize * kMostSize> empty{};
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (cells[i] == 0) empty[left++] = static_cast<std::uint8_t>(i);
    }
    for (; left != 0; --left) {
      seed += 0x9e3779b97f4a7c15u;
      const std::uint64_t draw = hex_mix(seed) % left;
      board.play(empty[draw]);
      empty[draw] = empty[left - 1];
    }
    return board.connects(1) ? 1 : 2;
  }
};

}  // namespace slackline::examples
