// What members of a group tell each other while it lives.
#pragma once

#include <cstdint>
#include <optional>

#include "machine/group/settlement.h"

namespace slackline::machine {

enum class GroupWord : std::uint8_t {
  kClose = 1,  // the root wants to close, after `number` messages
  kDone,       // this member has all messages, and wants to close
  kSettle,     // the group has failed: `notice`
  kGone,       // this rank has no such group any more
  kStill,      // nothing happens: is this member there?
  kHere,       // it is; `number`: 1 if it wants to close
  kPing,       // is this rank still taken for alive?
  kPong,       // the answer, with the same number
  kLeft,       // this rank has no groups any more: it hears nothing of them from here on
};

struct GroupSaying {
  GroupWord word = GroupWord::kPing;
  std::uint64_t number = 0;
  SettlementNotice notice;
};

/// What a rank answers in whose memory there is no such group, or only its end; nothing to most.
inline std::optional<GroupSaying> answer_without_group(GroupWord word) {
  if (word != GroupWord::kSettle) return std::nullopt;
  return GroupSaying{GroupWord::kGone, 0, {}};
}

}  // namespace slackline::machine
