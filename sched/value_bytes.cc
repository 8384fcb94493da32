#include "sched/value_bytes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/mix.h"

namespace slackline::sched {
namespace {

static_assert(std::endian::native == std::endian::little, "values are words in this order");

}  // namespace

// Mixed bits, but that bytes of 0 become 0xa5.
std::uint64_t value_word(ValueId value, std::uint64_t number) {
  const std::uint64_t word = finalized(number + kSplitMixStep * (std::uint64_t{value.value} + 1));
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7fu;
  const std::uint64_t zeros = ~(((word & kLow) + kLow) | word | kLow);  // 0x80 where a byte is 0
  return word | (zeros >> 7) * 0xa5;
}

std::byte value_byte(ValueId value, std::uint64_t offset) {
  return static_cast<std::byte>(value_word(value, offset / 8) >> (8 * (offset % 8)) & 0xff);
}

void write_value(ValueId value, std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t word = value_word(value, offset / 8);
    const std::size_t skipped = offset % 8;
    const std::size_t count = std::min<std::size_t>(8 - skipped, bytes.size());
    if (count == 8) {
      std::memcpy(bytes.data(), &word, 8);
    } else {
      std::memcpy(bytes.data(), reinterpret_cast<const std::byte*>(&word) + skipped, count);
    }
    offset += count;
    bytes = bytes.subspan(count);
  }
}

}  // namespace slackline::sched
