// Strong index types: a rank cannot be passed where an operation is wanted.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace slackline::sched {

/// An index into one table of a Schedule. `none()` marks its absence.
template <class Tag>
struct Id {
  std::uint32_t value = std::numeric_limits<std::uint32_t>::max();

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t index) : value(index) {}
  static constexpr Id none() { return Id(); }
  constexpr bool valid() const { return value != std::numeric_limits<std::uint32_t>::max(); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using RankId = Id<struct RankTag>;
using OpId = Id<struct OpTag>;
using BufferId = Id<struct BufferTag>;
using ChannelId = Id<struct ChannelTag>;
using RegionId = Id<struct RegionTag>;
using ValueId = Id<struct ValueTag>;

}  // namespace slackline::sched

template <class Tag>
struct std::hash<slackline::sched::Id<Tag>> {
  std::size_t operator()(slackline::sched::Id<Tag> id) const noexcept { return id.value; }
};
