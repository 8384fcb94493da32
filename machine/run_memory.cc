#include "machine/run_memory.h"

#include <algorithm>
#include <cstring>

#include "sched/pieces.h"

namespace slackline::machine {

using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::Slice;

namespace {

bool is_moving(OpKind kind) {
  return kind == OpKind::kSend || kind == OpKind::kPut || kind == OpKind::kGet ||
         kind == OpKind::kCopy || kind == OpKind::kReduce;
}

}  // namespace

RunMemory::RunMemory(const sched::Schedule& schedule, const sched::KeptMemory& kept,
                     Operands& operands, std::span<std::byte> memory)
    : schedule_(schedule), kept_(kept), operands_(operands), memory_(memory) {
  sched::write_given(schedule, kept, memory);
  if (kept.empty()) return;
  const auto ops = schedule.ops();
  moves_.resize(ops.size(), 0);
  // What flows into a kept buffer is kept, so the target decides; a get may be looked at alone.
  const auto touches = [&](std::span<const Slice> slices) {
    return std::any_of(slices.begin(), slices.end(),
                       [&](const Slice& slice) { return kept.keeps(slice.buffer); });
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    if (!is_moving(op.kind)) continue;
    moves_[i] = touches(schedule.slices(op.kind == OpKind::kSend ? op.reads : op.writes)) ||
                (op.kind == OpKind::kGet && touches(schedule.slices(op.reads)));
  }
}

std::uint64_t RunMemory::address_of(OpId atomic) const {
  const Slice& word = schedule_.slices(schedule_.op(atomic).reads).front();
  return static_cast<std::uint64_t>(at(word, operands_.values(atomic.value).shift).data() -
                                    memory_.data());
}

void RunMemory::apply(OpId atomic) {
  const Operands::Values told = operands_.values(atomic.value);
  std::uint64_t value = 0;
  std::byte* const word = memory_.data() + address_of(atomic);
  std::memcpy(&value, word, sizeof value);
  operands_.set_result(atomic.value, value);
  const std::uint64_t result = value;
  const Op& op = schedule_.op(atomic);
  switch (op.kind) {
    case OpKind::kFetchAdd:
      value += told.operand;
      break;
    case OpKind::kFetchAnd:
      value &= told.operand;
      break;
    case OpKind::kFetchOr:
      value |= told.operand;
      break;
    case OpKind::kFetchXor:
      value ^= told.operand;
      break;
    default:
      if (value == told.compare) value = told.operand;
  }
  std::memcpy(word, &value, sizeof value);
  // The second slice it writes is its local result.
  if (op.writes.count < 2) return;
  const Slice& local = schedule_.slices(op.writes)[1];
  if (!kept_.keeps(local.buffer)) return;
  std::memcpy(at(local, 0).data(), &result, std::min<std::size_t>(local.bytes, 8));
}

void RunMemory::move(OpId id) {
  const Op& op = schedule_.op(id);
  const std::uint64_t by = operands_.values(id.value).shift;
  switch (op.kind) {
    case OpKind::kPut:
      copy(schedule_.slices(op.reads), 0, schedule_.slices(op.writes), by);
      break;
    case OpKind::kGet:
      operands_.set_result(id.value, first_word(schedule_.slices(op.reads), by));
      copy(schedule_.slices(op.reads), by, schedule_.slices(op.writes), 0);
      break;
    case OpKind::kReduce:
      reduce(op);
      break;
    default:
      copy(schedule_.slices(op.reads), 0, schedule_.slices(op.writes), 0);
  }
}

void RunMemory::receive(OpId send, OpId receive) {
  copy(schedule_.slices(schedule_.op(send).reads), 0,
       schedule_.slices(schedule_.op(receive).writes), 0);
}

void RunMemory::copy(std::span<const Slice> from, std::uint64_t from_shift,
                     std::span<const Slice> to, std::uint64_t to_shift) {
  sched::for_each_piece(from, to, [&](const Slice& source, const Slice& target) {
    if (!kept_.keeps(target.buffer)) return;
    std::memmove(at(target, to_shift).data(), at(source, from_shift).data(), source.bytes);
  });
}

// Bytes are added modulo 256.
void RunMemory::reduce(const Op& op) {
  const auto operands = schedule_.slices(op.reads);
  const auto target = at(schedule_.slices(op.writes).front(), 0);
  for (std::size_t b = 0; b < target.size(); ++b) {
    unsigned sum = 0;
    for (const Slice& operand : operands) sum += std::to_integer<unsigned>(at(operand, 0)[b]);
    target[b] = static_cast<std::byte>(sum & 0xff);
  }
}

std::uint64_t RunMemory::first_word(std::span<const Slice> slices, std::uint64_t by) const {
  std::uint64_t word = 0;
  std::size_t have = 0;
  for (const Slice& slice : slices) {
    if (have == sizeof word || !kept_.keeps(slice.buffer)) break;
    const auto bytes = at(slice, by);
    const std::size_t count = std::min(bytes.size(), sizeof word - have);
    std::memcpy(reinterpret_cast<std::byte*>(&word) + have, bytes.data(), count);
    have += count;
  }
  return word;
}

std::span<std::byte> RunMemory::at(const Slice& slice, std::uint64_t shift) const {
  return kept_.of(slice.buffer, memory_).subspan(slice.offset + shift, slice.bytes);
}

}  // namespace slackline::machine
