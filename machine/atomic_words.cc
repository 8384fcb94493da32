#include "machine/atomic_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "sched/error.h"
#include "sched/value_bytes.h"

namespace slackline::machine {

using sched::Op;
using sched::OpArguments;
using sched::Operand;
using sched::OpId;
using sched::OpKind;
using sched::OpTimes;
using sched::Slice;

AtomicWords::AtomicWords(const sched::Schedule& schedule, std::span<std::uint64_t> results)
    : schedule_(schedule), results_(results) {
  const auto ops = schedule.ops();
  if (std::any_of(ops.begin(), ops.end(), [](const Op& o) { return sched::is_atomic(o.kind); })) {
    requests_.resize(ops.size());
  }
}

void AtomicWords::post(OpId op, std::span<const OpTimes> times, double now_s) {
  const Op& o = schedule_.op(op);
  const OpArguments& arguments = schedule_.arguments(o);
  const Slice& slice = schedule_.slices(o.reads).front();
  Request& request = requests_[op.value];
  request.operand = value(op, arguments.operand, times, now_s);
  request.compare = value(op, arguments.compare, times, now_s);
  request.word = &at(slice.buffer, moved(op, slice, times, now_s));
}

void AtomicWords::check_address(OpId op, std::span<const OpTimes> times, double now_s) const {
  const Op& o = schedule_.op(op);
  if (schedule_.arguments(o).address_offset.from == Operand::From::kAbsent) return;
  const sched::SliceRange remote = o.kind == OpKind::kPut ? o.writes : o.reads;
  for (const Slice& slice : schedule_.slices(remote)) moved(op, slice, times, now_s);
}

AtomicWords::Word& AtomicWords::word_of(OpId op) { return *requests_[op.value].word; }

void AtomicWords::apply(OpId op) {
  const Request& request = requests_[op.value];
  std::uint64_t& value = request.word->value;
  results_[op.value] = value;
  switch (schedule_.op(op).kind) {
    case OpKind::kFetchAdd:
      value += request.operand;
      break;
    case OpKind::kFetchAnd:
      value &= request.operand;
      break;
    case OpKind::kFetchOr:
      value |= request.operand;
      break;
    case OpKind::kFetchXor:
      value ^= request.operand;
      break;
    default:
      if (value == request.compare) value = request.operand;
  }
}

bool AtomicWords::succeeded(OpId op) const {
  return schedule_.op(op).kind != OpKind::kCompareSwap ||
         results_[op.value] == requests_[op.value].compare;
}

std::uint64_t AtomicWords::value(OpId op, const Operand& operand, std::span<const OpTimes> times,
                                 double now_s) const {
  if (operand.from == Operand::From::kAbsent) return 0;
  if (operand.from == Operand::From::kLiteral) return operand.value;
  const OpTimes& fetched = times[operand.op.value];
  if (fetched.attempts == 0 || fetched.done_s > now_s) {
    throw InputError(fmt::format(
        "{} uses the result of {} when it is not there; expected an edge that waits for it",
        describe(schedule_, op), describe(schedule_, operand.op)));
  }
  return results_[operand.op.value] * operand.value;
}

std::uint64_t AtomicWords::moved(OpId op, const Slice& slice, std::span<const OpTimes> times,
                                 double now_s) const {
  const Operand& by = schedule_.arguments(schedule_.op(op)).address_offset;
  if (by.from == Operand::From::kAbsent) return slice.offset;
  const std::uint64_t offset = value(op, by, times, now_s);
  const std::uint64_t room = schedule_.buffers()[slice.buffer.value].bytes - slice.bytes;
  if (offset > room || slice.offset > room - offset) {
    throw InputError(fmt::format("{} acts on {} bytes at {} + {} of buffer {}, which has {}",
                                 describe(schedule_, op), slice.bytes, slice.offset, offset,
                                 slice.buffer.value,
                                 schedule_.buffers()[slice.buffer.value].bytes));
  }
  return slice.offset + offset;
}

AtomicWords::Word& AtomicWords::at(sched::BufferId buffer, std::uint64_t offset) {
  const auto [found, fresh] = words_.try_emplace({buffer.value, offset});
  Word& word = found->second;
  if (!fresh) return word;
  std::array<std::byte, 8> bytes{};
  for (const sched::Fact& fact : schedule_.contract().pre) {
    if (fact.slice.buffer != buffer) continue;
    const std::uint64_t from = std::max(offset, fact.slice.offset);
    const std::uint64_t to = std::min(offset + 8, fact.slice.offset + fact.slice.bytes);
    if (from >= to) continue;
    sched::write_value(fact.value, fact.value_offset + (from - fact.slice.offset),
                       std::span(bytes).subspan(from - offset, to - from));
  }
  word.value = std::bit_cast<std::uint64_t>(bytes);
  return word;
}

}  // namespace slackline::machine
