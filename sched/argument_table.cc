#include "sched/argument_table.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t bit_at(ArgumentBit bit) { return 1u << static_cast<int>(bit); }

}  // namespace

inline void ArgumentCells::put(std::uint64_t number, int bit) {
  const auto put_half = [this](std::uint32_t half, int at) {
    if (half == 0) return;
    cells_[0] |= 1u << at;
    cells_[count_++] = half;
  };
  if (number == 0) return;
  put_half(static_cast<std::uint32_t>(number), bit);
  put_half(static_cast<std::uint32_t>(number >> 32), bit + 1);
}

inline void ArgumentCells::put(const Operand& operand, ArgumentBit bit, ArgumentBit from) {
  cells_[0] |= static_cast<std::uint32_t>(operand.from) << static_cast<int>(from);
  const int first = static_cast<int>(bit);
  put(operand.value, first);
  put(operand.addend, first + 2);
  put(operand.modulus, first + 4);
}

ArgumentCells::ArgumentCells(const OpArguments& arguments) {
  cells_[0] = static_cast<std::uint32_t>(arguments.expect)
              << static_cast<int>(ArgumentBit::kExpect);
  const auto put_op = [this](OpId op, ArgumentBit bit) {
    if (!op.valid()) return;
    cells_[0] |= bit_at(bit);
    cells_[count_++] = op.value;
  };
  put_op(arguments.operand.op, ArgumentBit::kOperandOp);
  put_op(arguments.compare.op, ArgumentBit::kCompareOp);
  put_op(arguments.address_offset.op, ArgumentBit::kAddressOp);
  put(static_cast<std::uint64_t>(arguments.duration.count()),
      static_cast<int>(ArgumentBit::kDuration));
  put(~arguments.compare_mask, static_cast<int>(ArgumentBit::kMask));
  put(arguments.operand, ArgumentBit::kOperand, ArgumentBit::kOperandFrom);
  put(arguments.compare, ArgumentBit::kCompare, ArgumentBit::kCompareFrom);
  put(arguments.address_offset, ArgumentBit::kAddress, ArgumentBit::kAddressFrom);
}

ArgumentCells::ArgumentCells(Time duration) {
  cells_[0] = 0;
  put(static_cast<std::uint64_t>(duration.count()), static_cast<int>(ArgumentBit::kDuration));
}

}  // namespace slackline::sched
