// What every rank gives, brought to every rank in ⌈log2 n⌉ rounds (Bruck et al., 1997). In the
// round of distance d = 1, 2, 4, … a rank has what the d ranks from itself upwards gave, sends as
// much of it as the rank d below still lacks, and receives the same from the rank d above.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/mesh.h"

namespace slackline::hw {

class Gathering {
 public:
  /// One rank's part, and what it gives.
  Gathering(std::uint32_t rank, std::uint32_t ranks, std::span<const std::byte> own);

  /// Whether it has what all gave.
  bool done() const { return pieces_.size() == ranks_; }

  /// Of the next round, while it is not done: who is told, and what; who tells.
  std::uint32_t to() const { return (rank_ + ranks_ - distance()) % ranks_; }
  Bytes told() const;
  std::uint32_t from() const { return (rank_ + distance()) % ranks_; }
  /// Ends the round with what `from` told. Throws WireError for bytes that are not that.
  void take(std::span<const std::byte> bytes);

  /// Once it is done: what each gave, by rank.
  std::vector<Bytes> all() &&;

 private:
  std::uint32_t distance() const { return static_cast<std::uint32_t>(pieces_.size()); }
  // Of a round.
  std::size_t count() const {
    return std::min<std::size_t>(pieces_.size(), ranks_ - pieces_.size());
  }

  const std::uint32_t rank_;
  const std::uint32_t ranks_;
  std::vector<Bytes> pieces_;  // of the ranks from this one upwards
};

}  // namespace slackline::hw
