// What the bytes of a contract's values are, wherever memory is more than a name for them: in real
// runs, and in the words that simulated atomics act on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sched/ids.h"

namespace slackline::sched {

/// A function of the value and the byte's place in it; never 0, so that memory nobody wrote does
/// not pass for a value.
std::byte value_byte(ValueId value, std::uint64_t offset);

/// Bytes [8 · number, 8 · number + 8) of a value.
std::uint64_t value_word(ValueId value, std::uint64_t number);

/// Writes bytes [offset, offset + bytes.size()) of a value.
void write_value(ValueId value, std::uint64_t offset, std::span<std::byte> bytes);

}  // namespace slackline::sched
