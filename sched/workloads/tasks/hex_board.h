// The game of Hex on an 11 × 11 board: two players fill cells in turn; the first joins the top to
// the bottom, the second the left to the right. A full board has exactly one winner.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace slackline::sched {

inline constexpr std::uint32_t kHexSide = 11;
inline constexpr std::uint32_t kHexCells = kHexSide * kHexSide;

enum class HexPlayer : std::uint8_t { kNone, kFirst, kSecond };

class HexBoard {
 public:
  /// The moves so far, cell numbers row by row, the players in turn.
  explicit HexBoard(const std::vector<std::uint8_t>& moves = {});

  HexPlayer at(std::uint32_t cell) const { return cells_[cell]; }
  HexPlayer to_move() const { return moves_ % 2 == 0 ? HexPlayer::kFirst : HexPlayer::kSecond; }
  /// The cell must be empty.
  void play(std::uint32_t cell);
  std::vector<std::uint8_t> empty_cells() const;

  /// Whether the player's two edges are joined.
  bool joins(HexPlayer player) const;

 private:
  std::array<HexPlayer, kHexCells> cells_{};
  std::uint32_t moves_ = 0;
};

/// The board filled up by random moves: who wins. A function of the board and the seed.
HexPlayer hex_playout(HexBoard board, std::uint64_t seed);

}  // namespace slackline::sched
