#include "machine/run_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sched/error.h"
#include "sched/pieces.h"

namespace slackline::machine {

using sched::Op;
using sched::OpArguments;
using sched::Operand;
using sched::OpId;
using sched::OpKind;
using sched::OpTimes;
using sched::Slice;

namespace {

bool is_moving(OpKind kind) {
  return kind == OpKind::kSend || kind == OpKind::kPut || kind == OpKind::kGet ||
         kind == OpKind::kCopy || kind == OpKind::kReduce;
}

}  // namespace

bool is_tested(const sched::Schedule& schedule, const Op& op) {
  if (op.kind == OpKind::kCompareSwap) return true;
  return sched::has_reply(op.kind) && schedule.arguments(op).compare.from != Operand::From::kAbsent;
}

RunMemory::RunMemory(const sched::Schedule& schedule, const KeptMemory& kept,
                     std::span<std::uint64_t> results, std::span<std::byte> memory)
    : schedule_(schedule), kept_(kept), results_(results), memory_(memory) {
  write_given(schedule, kept, memory);
  const auto ops = schedule.ops();
  const bool asks = std::any_of(ops.begin(), ops.end(), [](const Op& op) {
    return sched::is_atomic(op.kind) ||
           (op.arguments != sched::kNoArguments && sched::is_initiator(op.kind));
  });
  if (asks) requests_.resize(ops.size());
  if (kept.empty()) return;
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

void RunMemory::post(OpId op, std::span<const OpTimes> times, double now_s) {
  const Op& o = schedule_.op(op);
  if (!sched::is_atomic(o.kind) && o.arguments == sched::kNoArguments) return;
  const OpArguments& arguments = schedule_.arguments(o);
  Request& request = requests_[op.value];
  request.operand = value(op, arguments.operand, times, now_s);
  request.compare = value(op, arguments.compare, times, now_s);
  const auto remote = schedule_.slices(o.kind == OpKind::kPut ? o.writes : o.reads);
  request.address = shift(op, remote, times, now_s);
  if (!sched::is_atomic(o.kind)) return;
  request.address =
      static_cast<std::uint64_t>(at(remote.front(), request.address).data() - memory_.data());
}

void RunMemory::apply(OpId atomic) {
  const Request& request = requests_[atomic.value];
  std::uint64_t value = 0;
  std::byte* const word = memory_.data() + request.address;
  std::memcpy(&value, word, sizeof value);
  results_[atomic.value] = value;
  const Op& op = schedule_.op(atomic);
  switch (op.kind) {
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
  std::memcpy(word, &value, sizeof value);
  // The second slice it writes is its local result.
  if (op.writes.count < 2) return;
  const Slice& local = schedule_.slices(op.writes)[1];
  if (!kept_.keeps(local.buffer)) return;
  std::memcpy(at(local, 0).data(), &results_[atomic.value], std::min<std::size_t>(local.bytes, 8));
}

void RunMemory::move(OpId id) {
  const Op& op = schedule_.op(id);
  const std::uint64_t by = requests_.empty() ? 0 : requests_[id.value].address;
  switch (op.kind) {
    case OpKind::kPut:
      copy(schedule_.slices(op.reads), 0, schedule_.slices(op.writes), by);
      break;
    case OpKind::kGet:
      results_[id.value] = first_word(schedule_.slices(op.reads), by);
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

bool RunMemory::succeeded(OpId id) const {
  const Op& op = schedule_.op(id);
  if (!is_tested(schedule_, op)) return true;
  const OpArguments& arguments = schedule_.arguments(op);
  const std::uint64_t differs =
      (results_[id.value] ^ requests_[id.value].compare) & arguments.compare_mask;
  return (differs == 0) == (arguments.expect == sched::Expect::kEqual);
}

std::uint64_t RunMemory::value(OpId op, const Operand& operand, std::span<const OpTimes> times,
                               double now_s) const {
  if (operand.from == Operand::From::kAbsent) return 0;
  if (operand.from == Operand::From::kLiteral) return operand.value;
  const bool result = operand.from == Operand::From::kResult;
  const OpTimes& of = times[operand.op.value];
  if (operand.op == op) return operand.of(result ? results_[op.value] : of.attempts - 1);
  if (of.attempts == 0 || of.done_s > now_s) {
    throw InputError(fmt::format(
        "{} uses the {} of {} when it is not there; expected an edge that waits for it",
        describe(schedule_, op), result ? "result" : "attempt", describe(schedule_, operand.op)));
  }
  return operand.of(result ? results_[operand.op.value] : of.attempts - 1);
}

void require_aligned(const sched::Schedule& schedule, OpId op, std::uint64_t offset) {
  if (offset % 8 == 0 || !sched::is_atomic(schedule.op(op).kind)) return;
  throw InputError(
      fmt::format("{} works on a word at byte {} of its buffer; expected a multiple of 8",
                  describe(schedule, op), offset));
}

std::uint64_t RunMemory::shift(OpId op, std::span<const Slice> remote,
                               std::span<const OpTimes> times, double now_s) const {
  const Operand& by = schedule_.arguments(schedule_.op(op)).address_offset;
  if (by.from == Operand::From::kAbsent) return 0;
  const std::uint64_t offset = value(op, by, times, now_s);
  for (const Slice& slice : remote) {
    const std::uint64_t size = schedule_.buffers()[slice.buffer.value].bytes;
    const std::uint64_t room = size - slice.bytes;
    if (offset > room || slice.offset > room - offset) {
      throw InputError(fmt::format("{} acts on {} bytes at {} + {} of buffer {}, which has {}",
                                   describe(schedule_, op), slice.bytes, slice.offset, offset,
                                   slice.buffer.value, size));
    }
    require_aligned(schedule_, op, slice.offset + offset);
  }
  return offset;
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
