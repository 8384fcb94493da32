// What kinds of operation have, read, write and touch at another rank: the table of sched/op.h, for
// those who ask of every operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sched/op.h"

namespace slackline::sched {

constexpr bool takes_reads(OpKind kind) {
  switch (kind) {
    case OpKind::kRecv:
    case OpKind::kFlush:
    case OpKind::kCalc:
    case OpKind::kDelay:
    case OpKind::kJoin:
      return false;
    default:
      return true;
  }
}

constexpr bool takes_writes(OpKind kind) {
  switch (kind) {
    case OpKind::kSend:
    case OpKind::kFlush:
    case OpKind::kPoll:
    case OpKind::kCalc:
    case OpKind::kDelay:
    case OpKind::kJoin:
      return false;
    default:
      return true;
  }
}

// What an operation of a kind has at the most, where it names two slices to read and one to write,
// or fewer.
struct KindRules {
  std::uint8_t reads = 0;
  bool writes = false;
  bool in_place = false;  // an atomic without a local result: it writes what it reads
  bool on_channel = false;
  bool at_destination = false;  // of its channel
  bool initiates = false;
  bool reads_remote = false;
  bool writes_remote = false;
  bool notifies = false;
};
constexpr KindRules rules_of(OpKind kind) {
  KindRules rules;
  rules.in_place = is_atomic(kind);
  rules.reads = !takes_reads(kind) ? 0 : is_atomic(kind) ? 1 : 2;
  rules.writes = takes_writes(kind);
  rules.on_channel = has_channel(kind);
  rules.at_destination = kind == OpKind::kRecv;
  rules.initiates = is_initiator(kind);
  rules.reads_remote = kind == OpKind::kGet || is_atomic(kind);
  rules.writes_remote = kind == OpKind::kPut || is_atomic(kind);
  rules.notifies = kind == OpKind::kPut;
  return rules;
}
inline constexpr auto kKindRules = [] {
  std::array<KindRules, kOpKinds> rules;
  for (int kind = 0; kind < kOpKinds; ++kind) {
    rules[static_cast<std::size_t>(kind)] = rules_of(static_cast<OpKind>(kind));
  }
  return rules;
}();

}  // namespace slackline::sched
