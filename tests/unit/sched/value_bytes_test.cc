// The bytes of values: SplitMix64's output, without zeros.
#include "sched/value_bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace slackline::sched {
namespace {

std::uint64_t first_word(std::uint32_t value) {
  std::uint64_t word = 0;
  for (std::uint64_t i = 8; i-- > 0;) {
    word = word << 8 | std::to_integer<std::uint64_t>(value_byte(ValueId(value), i));
  }
  return word;
}

TEST(ValueBytes, AreThePublishedGeneratorsOutput) {
  // SplitMix64 from state 0; the third has no zero byte either.
  EXPECT_EQ(first_word(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(first_word(1), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(first_word(2), 0x06c45d188009454fu);
  EXPECT_EQ(first_word(3), 0xf88bb8a8724c81ecu);
}

TEST(ValueBytes, AreNeverZeroWhereTheGeneratorsAre) {
  const auto generated = [](std::uint64_t value, std::uint64_t word) {
    std::uint64_t x = word + 0x9e3779b97f4a7c15u * (value + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  int zeros = 0;
  for (std::uint32_t value = 0; value < 4; ++value) {
    for (std::uint64_t offset = 0; offset < 16'384; ++offset) {
      const auto byte =
          static_cast<unsigned>(generated(value, offset / 8) >> (offset % 8 * 8) & 0xff);
      zeros += byte == 0 ? 1 : 0;
      ASSERT_EQ(std::to_integer<unsigned>(value_byte(ValueId(value), offset)),
                byte == 0 ? 0xa5 : byte);
    }
  }
  EXPECT_GT(zeros, 100);
}

TEST(ValueBytes, AreWrittenFromAnyPlaceOn) {
  std::mt19937_64 random(3);
  for (int n = 0; n < 500; ++n) {
    const ValueId value(static_cast<std::uint32_t>(random()));
    const std::uint64_t offset = n % 2 == 0 ? random() % 64 : random() >> 1;
    std::vector<std::byte> bytes(random() % 40 + 2, std::byte{0});
    // The first and the last byte stay as they are.
    write_value(value, offset, std::span(bytes).subspan(1, bytes.size() - 2));
    EXPECT_EQ(bytes.front(), std::byte{0});
    EXPECT_EQ(bytes.back(), std::byte{0});
    for (std::size_t i = 1; i + 1 < bytes.size(); ++i) {
      ASSERT_EQ(bytes[i], value_byte(value, offset + i - 1));
    }
  }
}

}  // namespace
}  // namespace slackline::sched
