// What memory an operation touches, with fixed address offsets applied.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

enum class Access : std::uint8_t {
  kRead,
  kWrite,
  kAtomic,  // reads and writes one remote word, in one step
};

/// The bytes added to the offset of an operation's remote slices; 0 unless given as a literal.
inline std::uint64_t fixed_offset(const Schedule& schedule, const Op& op) {
  if (op.arguments == kNoArguments) return 0;
  const Operand& offset = schedule.arguments(op).address_offset;
  return offset.from == Operand::From::kLiteral ? offset.value : 0;
}

inline Slice moved(Slice slice, std::uint64_t by) {
  slice.offset += by;
  return slice;
}

/// Calls `visit(slice)` for every slice that is gathered, in order.
template <class Visit>
void for_each_read(const Schedule& schedule, const Op& op, Visit&& visit) {
  const bool remote = op.kind == OpKind::kGet || is_atomic(op.kind);
  const std::uint64_t by = remote ? fixed_offset(schedule, op) : 0;
  for (const Slice& slice : schedule.slices(op.reads)) visit(moved(slice, by));
}

/// Calls `visit(slice)` for every slice that is scattered into, in order; of an atomic only its
/// local result.
template <class Visit>
void for_each_write(const Schedule& schedule, const Op& op, Visit&& visit) {
  std::span<const Slice> slices = schedule.slices(op.writes);
  if (is_atomic(op.kind)) slices = slices.subspan(1);
  const std::uint64_t by = op.kind == OpKind::kPut ? fixed_offset(schedule, op) : 0;
  for (const Slice& slice : slices) visit(moved(slice, by));
}

/// The remote word of an atomic.
inline Slice atomic_word(const Schedule& schedule, const Op& op) {
  return moved(schedule.slices(op.reads).front(), fixed_offset(schedule, op));
}

/// "bytes [0, 512) of buffer 3 on rank 1".
std::string describe(const Schedule& schedule, const Slice& slice);

}  // namespace slackline::sched
