#include "machine/run/operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::machine {

using sched::Op;
using sched::OpArguments;
using sched::Operand;
using sched::OpKind;

namespace {

bool is_told(const Op& op) {
  return sched::is_atomic(op.kind) ||
         (sched::is_initiator(op.kind) && op.arguments != sched::kNoArguments);
}

}  // namespace

bool is_tested(const sched::Schedule& schedule, const Op& op) {
  if (op.kind == OpKind::kCompareSwap) return true;
  return sched::has_reply(op.kind) && schedule.arguments(op).compare.from != Operand::From::kAbsent;
}

void require_aligned(const sched::Schedule& schedule, sched::OpId op, std::uint64_t offset) {
  if (offset % 8 == 0 || !sched::is_atomic(schedule.op(op).kind)) return;
  throw InputError(
      fmt::format("{} works on a word at byte {} of its buffer; expected a multiple of 8",
                  describe(schedule, op), offset));
}

bool Operands::any_result(const sched::Schedule& schedule, sched::OpRange range) {
  const auto ops = schedule.ops().subspan(range.first.value, range.count);
  return std::any_of(ops.begin(), ops.end(),
                     [](const Op& op) { return sched::has_reply(op.kind); });
}

Operands::Operands(const sched::Schedule& schedule, sched::OpRange range,
                   std::span<const sched::OpTimes> times, std::span<std::uint64_t> results)
    : schedule_(schedule), range_(range), times_(times), results_(results) {
  // Atomics have results, and all others that are told something have arguments.
  if (results.empty() && schedule.argument_table().empty()) return;
  const auto ops = schedule.ops().subspan(range.first.value, range.count);
  if (std::any_of(ops.begin(), ops.end(), is_told)) values_.resize(range.count);
}

const Operands::Values& Operands::read(std::uint32_t op, double now_s) {
  static constexpr Values kNone;
  if (values_.empty()) return kNone;
  Values& values = values_[op];
  const Op& o = schedule_.op(range_.id(op));
  if (o.arguments == sched::kNoArguments) return values;
  const OpArguments& arguments = schedule_.arguments(o);
  values.operand = value_of(op, arguments.operand, now_s);
  values.compare = value_of(op, arguments.compare, now_s);
  values.shift = shift_of(op, arguments.address_offset, now_s);
  return values;
}

bool Operands::succeeded(std::uint32_t op) const {
  const Op& o = schedule_.op(range_.id(op));
  if (!is_tested(schedule_, o)) return true;
  const OpArguments& arguments = schedule_.arguments(o);
  const std::uint64_t differs = (results_[op] ^ values_[op].compare) & arguments.compare_mask;
  return (differs == 0) == (arguments.expect == sched::Expect::kEqual);
}

std::uint64_t Operands::value_of(std::uint32_t op, const Operand& operand, double now_s) const {
  if (operand.from == Operand::From::kAbsent) return 0;
  if (operand.from == Operand::From::kLiteral) return operand.value;
  const bool result = operand.from == Operand::From::kResult;
  const std::uint32_t of = range_.place(operand.op);
  const sched::OpTimes& times = times_[of];
  if (of != op && (times.attempts == 0 || times.done_s > now_s)) {
    throw InputError(
        fmt::format("{} uses the {} of {} when it is not there; expected an edge that waits for it",
                    describe(schedule_, range_.id(op)), result ? "result" : "attempt",
                    describe(schedule_, operand.op)));
  }
  return operand.of(result ? results_[of] : times.attempts - 1);
}

std::uint64_t Operands::shift_of(std::uint32_t op, const Operand& by, double now_s) const {
  if (by.from == Operand::From::kAbsent) return 0;
  const sched::OpId id = range_.id(op);
  const Op& o = schedule_.op(id);
  const std::uint64_t shift = value_of(op, by, now_s);
  for (const sched::Slice& slice : schedule_.slices(o.kind == OpKind::kPut ? o.writes : o.reads)) {
    const std::uint64_t bytes = schedule_.buffers()[slice.buffer.value].bytes;
    const std::uint64_t room = bytes - slice.bytes;
    if (shift > room || slice.offset > room - shift) {
      throw InputError(fmt::format("{} acts on {} bytes at {} + {} of buffer {}, which has {}",
                                   describe(schedule_, id), slice.bytes, slice.offset, shift,
                                   slice.buffer.value, bytes));
    }
    require_aligned(schedule_, id, slice.offset + shift);
  }
  return shift;
}

}  // namespace slackline::machine
