#include "hw/executor/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "machine/run_memory.h"
#include "sched/error.h"

namespace slackline::hw {

using sched::Op;
using sched::Operand;
using sched::OpKind;
using sched::Slice;

Operands::Operands(const RankProgram& program, std::span<const sched::OpTimes> times)
    : program_(program), schedule_(program.schedule()), times_(times) {
  bool any_reply = false;
  bool any_arguments = false;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Op& op = program.op(i);
    any_reply = any_reply || sched::has_reply(op.kind);
    any_arguments =
        any_arguments || (sched::is_initiator(op.kind) && op.arguments != sched::kNoArguments);
  }
  if (any_reply || any_arguments) values_.resize(program.size());
  if (!any_reply) return;
  results_.resize(program.size(), 0);
  tested_.resize(program.size());
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    tested_[i] = machine::is_tested(schedule_, program.op(i));
  }
}

void Operands::reset() { std::fill(results_.begin(), results_.end(), 0); }

const Operands::Values& Operands::read(std::uint32_t op) {
  static constexpr Values kNone;
  if (values_.empty()) return kNone;
  Values& values = values_[op];
  if (program_.op(op).arguments == sched::kNoArguments) return values;
  const sched::OpArguments& arguments = schedule_.arguments(program_.op(op));
  values.operand = value_of(op, arguments.operand);
  values.compare = value_of(op, arguments.compare);
  values.shift = shift_of(op);
  return values;
}

bool Operands::succeeded(std::uint32_t op) const {
  if (tested_.empty() || !tested_[op]) return true;
  const sched::OpArguments& arguments = schedule_.arguments(program_.op(op));
  const std::uint64_t differs = (results_[op] ^ values_[op].compare) & arguments.compare_mask;
  return (differs == 0) == (arguments.expect == sched::Expect::kEqual);
}

std::uint64_t Operands::value_of(std::uint32_t op, const Operand& operand) const {
  if (operand.from == Operand::From::kAbsent) return 0;
  if (operand.from == Operand::From::kLiteral) return operand.value;
  const bool result = operand.from == Operand::From::kResult;
  const std::uint32_t of = operand.op.value - program_.id(0).value;
  const bool done = times_[of].done_s != std::numeric_limits<double>::infinity();
  if (of != op && (times_[of].attempts == 0 || !done)) {
    throw InputError(
        fmt::format("{} uses the {} of {} when it is not there; expected an edge that waits for it",
                    describe(schedule_, program_.id(op)), result ? "result" : "attempt",
                    describe(schedule_, operand.op)));
  }
  return operand.of(result ? results_[of] : times_[of].attempts - 1);
}

std::uint64_t Operands::shift_of(std::uint32_t op) const {
  const Op& o = program_.op(op);
  const Operand& by = schedule_.arguments(o).address_offset;
  if (by.from == Operand::From::kAbsent) return 0;
  const std::uint64_t shift = value_of(op, by);
  for (const Slice& slice : schedule_.slices(o.kind == OpKind::kPut ? o.writes : o.reads)) {
    const std::uint64_t bytes = schedule_.buffers()[slice.buffer.value].bytes;
    const std::uint64_t room = bytes - slice.bytes;
    if (shift > room || slice.offset > room - shift) {
      throw InputError(fmt::format("{} acts on {} bytes at {} + {} of buffer {}, which has {}",
                                   describe(schedule_, program_.id(op)), slice.bytes, slice.offset,
                                   shift, slice.buffer.value, bytes));
    }
    machine::require_aligned(schedule_, program_.id(op), slice.offset + shift);
  }
  return shift;
}

}  // namespace slackline::hw
