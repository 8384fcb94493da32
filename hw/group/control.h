// What members of groups tell each other over the mesh while a group lives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "hw/mesh.h"
#include "machine/group/words.h"

namespace slackline::hw {

/// The mesh's topics that groups use: this one, and kGroupHello + a group's id.
inline constexpr std::uint32_t kGroupControl = 0x48000000u;
inline constexpr std::uint32_t kGroupHello = 0x47000000u;

// What they tell is what simulations of groups know, too.
using machine::GroupSaying;
using machine::GroupWord;
using machine::SettlementNotice;

struct GroupControl : GroupSaying {
  std::uint32_t group = 0;  // its name, which no other group ever has
};

Bytes encode(const GroupControl& control);
/// Nothing if the bytes are none.
std::optional<GroupControl> decode_group_control(std::span<const std::byte> bytes);

}  // namespace slackline::hw
