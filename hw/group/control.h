// What members of groups tell each other over the mesh while a group lives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "hw/group/settlement.h"
#include "hw/mesh.h"

namespace slackline::hw {

/// The mesh's topics that groups use: this one, and kGroupHello + a group's id.
inline constexpr std::uint32_t kGroupControl = 0x48000000u;
inline constexpr std::uint32_t kGroupHello = 0x47000000u;

enum class GroupWord : std::uint8_t {
  kClose = 1,  // the root wants to close, after `number` messages
  kDone,       // this member has all messages, and wants to close
  kSettle,     // the group has failed: `notice`
  kGone,       // this rank has no such group any more
  kStill,      // nothing happens: is this member there?
  kHere,       // it is; `number`: 1 if it wants to close
  kPing,       // is this rank still taken for alive?
  kPong,       // the answer, with the same number
};

struct GroupControl {
  GroupWord word = GroupWord::kPing;
  std::uint32_t group = 0;  // its name, which no other group ever has
  std::uint64_t number = 0;
  SettlementNotice notice;
};

Bytes encode(const GroupControl& control);
/// Nothing if the bytes are none.
std::optional<GroupControl> decode_group_control(std::span<const std::byte> bytes);

}  // namespace slackline::hw
