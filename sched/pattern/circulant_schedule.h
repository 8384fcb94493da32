// Träff's round-optimal broadcast schedules on a circulant graph: which block a rank receives and
// sends in each round. They serve the dual operations as well.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace slackline::sched {

/// In round k of a phase of q rounds, rank r sends to r + skip(k) and receives from r − skip(k),
/// modulo p. Blocks are relative: −q … −1 are those of the phase before, 0 … q − 1 those of this
/// one. Rank 0 is the root.
class CirculantSchedule {
 public:
  /// `ranks` ≥ 1. Takes p q bytes.
  explicit CirculantSchedule(std::uint32_t ranks);

  /// q = ⌈log2 p⌉.
  std::uint32_t rounds() const { return rounds_; }
  /// skip(q) = p; skip(k) = ⌈skip(k + 1) / 2⌉. `k` ≤ q.
  std::uint32_t skip(std::uint32_t k) const { return skips_[k]; }
  /// The one block of the current phase that the rank receives in it; q for the root.
  std::uint32_t base_block(std::uint32_t rank) const;
  /// The block that `rank` receives in round k < q. Over one phase these are −q … −1 without
  /// base_block − q, and base_block. The root's are never sent.
  int receive(std::uint32_t rank, std::uint32_t k) const {
    return receives_[std::size_t{k} * skips_[rounds_] + rank];
  }

 private:
  std::uint32_t rounds_;
  std::array<std::uint32_t, 33> skips_{};
  std::vector<std::int8_t> receives_;  // by round, then by rank
};

}  // namespace slackline::sched
