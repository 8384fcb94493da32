// Global memory: linear addresses, striped over all ranks in blocks, and 2D ones, a rank and an
// address (Grappa, "Global memory addressing").
#pragma once

#include <cstdint>
#include <vector>

namespace slackline::sched {

inline constexpr std::uint64_t kGlobalBlock = 64;         // bytes: a cache line
inline constexpr std::uint32_t kEndPoints = 1u << 15;     // that a 2D address can name
inline constexpr std::uint64_t kLocalBytes = 1ull << 48;  // that it can address at each

/// Bytes at one rank.
struct LocalPiece {
  std::uint32_t rank = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const LocalPiece&, const LocalPiece&) = default;
};

/// As one word: the top bit is set in 2D addresses; then 15 bits of rank and 48 of address.
class GlobalAddress {
 public:
  /// Throws InputError from 2^63 on.
  static GlobalAddress linear(std::uint64_t byte);
  /// Throws InputError for a rank of 2^15 or more, and an offset of 2^48 or more.
  static GlobalAddress two_dimensional(std::uint32_t rank, std::uint64_t offset);

  bool is_linear() const { return bits_ >> 63 == 0; }
  std::uint64_t bits() const { return bits_; }

  /// Where `bytes` from here on stand, over `ranks`, block by block.
  std::vector<LocalPiece> pieces(std::uint64_t bytes, std::uint32_t ranks) const;
  /// The same for what a delegate acts on, which one rank must have: throws InputError if linear
  /// bytes leave their block.
  LocalPiece delegated(std::uint64_t bytes, std::uint32_t ranks) const;

 private:
  explicit GlobalAddress(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_;
};

/// Bytes of linear memory that each rank must have for `bytes` of it.
std::uint64_t striped_share(std::uint64_t bytes, std::uint32_t ranks);

}  // namespace slackline::sched
