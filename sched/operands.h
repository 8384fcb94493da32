// The operands of an operation, whatever they are for.
#pragma once

#include <array>
#include <cstdint>

#include "sched/op.h"

namespace slackline::sched {

inline std::array<Operand*, 3> operands(OpArguments& of) {
  return {&of.operand, &of.compare, &of.address_offset};
}
inline std::array<const Operand*, 3> operands(const OpArguments& of) {
  return {&of.operand, &of.compare, &of.address_offset};
}

constexpr Operand literal(std::uint64_t value) { return {Operand::From::kLiteral, {}, value}; }

}  // namespace slackline::sched
