// The small messages of a group, which go by a ring of slots at every member and not in blocks:
// what is the same on a machine (hw/group/small_messages.h) and in a simulation.
#pragma once

#include <algorithm>
#include <cstdint>

namespace slackline::machine {

/// What stands in a slot behind a message: its size, its number and a mark, 8 bytes each.
inline constexpr std::uint64_t kSmallTrailerBytes = 24;
/// The largest SmallShape::bytes and SmallShape::slots.
inline constexpr std::uint64_t kMostSmallBytes = 1 << 20;
inline constexpr std::uint32_t kMostSmallSlots = 65'536;

struct SmallShape {
  std::uint64_t bytes = 0;   // of the largest such message; 0: there are none
  std::uint32_t slots = 16;  // ≥ 1

  /// Whether a message of so many bytes goes by a slot.
  bool takes(std::uint64_t message_bytes) const { return bytes != 0 && message_bytes <= bytes; }
  /// After so many messages a member tells the root how many it has taken.
  std::uint32_t messages_per_count() const { return std::max(1u, slots / 2); }
  friend bool operator==(const SmallShape&, const SmallShape&) = default;
};

/// Throws InputError for a figure that is out of its range.
void check(const SmallShape& shape);

}  // namespace slackline::machine
