#include "base/units.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "base/error.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

std::string refusal_of_bytes(std::string_view text) {
  return testing::error_of([&] { parse_bytes(text, "bytes"); });
}

TEST(Units, ReadsBytes) {
  EXPECT_EQ(parse_bytes("0", "bytes"), 0u);
  EXPECT_EQ(parse_bytes("4096", "bytes"), 4096u);
  EXPECT_EQ(parse_bytes("7B", "bytes"), 7u);
  EXPECT_EQ(parse_bytes("1KiB", "bytes"), 1024u);
  EXPECT_EQ(parse_bytes("1KB", "bytes"), 1000u);
  EXPECT_EQ(parse_bytes("1.5MiB", "bytes"), 1572864u);
  EXPECT_EQ(parse_bytes("0.5KiB", "bytes"), 512u);
  EXPECT_EQ(parse_bytes("2GB", "bytes"), 2'000'000'000u);
  EXPECT_EQ(parse_bytes("9223372036854775807", "bytes"), 9223372036854775807ull);
  EXPECT_EQ(parse_bytes("8589934591GiB", "bytes"), 8589934591ull << 30);
}

TEST(Units, RefusesBytes) {
  for (const std::string text :
       {"", "x", "-1", "+1", "1.5", "0.3KiB", "1kib", "1 KiB", "1KiBs", "1e3", ".", "..1", "1.2.3",
        "9223372036854775808", "8589934592GiB", "99999999999999999999999999999999999999999999",
        "0x10", "1.0000000000000000000KiB"}) {
    EXPECT_NE(refusal_of_bytes(text), "") << text;
  }
  EXPECT_EQ(refusal_of_bytes("1.5"),
            "bytes: '1.5' is not a size: expected a whole number of bytes up to 2^63-1, alone or "
            "with B, KB, MB, GB, KiB, MiB or GiB, such as 4096 or 1MiB");
}

TEST(Units, ReadsTimes) {
  EXPECT_EQ(parse_time("0", "t").count(), 0);
  EXPECT_EQ(parse_time("1ps", "t").count(), 1);
  EXPECT_EQ(parse_time("1.5us", "t").count(), 1'500'000);
  EXPECT_EQ(parse_time("2s", "t").count(), 2'000'000'000'000);
  EXPECT_EQ(parse_time("0.4ps", "t").count(), 0);
  EXPECT_EQ(parse_time("0.5ps", "t").count(), 1);
  EXPECT_EQ(parse_time("1.23456ns", "t").count(), 1235);
  for (const std::string text : {"", "1", "0.0", "-1us", "1m", "us", "1 us", "9300000s", "inf"}) {
    EXPECT_THROW(parse_time(text, "t"), InputError) << text;
  }
}

TEST(Units, ReadsRates) {
  EXPECT_EQ(parse_rate("100Gbps", "r").bits_per_second, 100'000'000'000u);
  EXPECT_EQ(parse_rate("12.5GBps", "r").bits_per_second, 100'000'000'000u);
  EXPECT_EQ(parse_rate("1Tbps", "r").bits_per_second, 1'000'000'000'000u);
  EXPECT_EQ(parse_rate("1bps", "r").bits_per_second, 1u);
  for (const std::string text : {"", "0", "0Gbps", "100", "100gbps", "0.4bps", "1GiBps"}) {
    EXPECT_THROW(parse_rate(text, "r"), InputError) << text;
  }
}

TEST(Units, ReadsCounts) {
  EXPECT_EQ(parse_count("3", "n", 1, 5), 3u);
  EXPECT_EQ(parse_count("18446744073709551615", "n", 0, ~0ull), ~0ull);
  for (const std::string text : {"", "0", "6", "-3", "3x", " 3", "3.0", "18446744073709551616"}) {
    EXPECT_THROW(parse_count(text, "n", 1, 5), InputError) << text;
  }
  EXPECT_EQ(testing::error_of([&] { parse_count("0", "ranks", 1, 5); }),
            "ranks: '0' is not a whole number from 1 to 5");
}

TEST(Units, FormatsInTheLargestUnitThatDivides) {
  EXPECT_EQ(format_bytes(0), "0");
  EXPECT_EQ(format_bytes(1000), "1000");
  EXPECT_EQ(format_bytes(1024), "1KiB");
  EXPECT_EQ(format_bytes(1536), "1536");
  EXPECT_EQ(format_bytes(3ull << 30), "3GiB");
  EXPECT_EQ(format_time(Time{0}), "0");
  EXPECT_EQ(format_time(Time{1'500'000}), "1500ns");
  EXPECT_EQ(format_time(Time{3'000'000'000'000}), "3s");
  EXPECT_EQ(format_time(Time{1}), "1ps");
  EXPECT_EQ(format_time(kForever), "forever");
  EXPECT_EQ(format_rate(Rate{100'000'000'000}), "100Gbps");
  EXPECT_EQ(format_rate(Rate{2'500'000'000}), "2500Mbps");
  EXPECT_EQ(format_rate(Rate{1}), "1bps");
}

TEST(Units, TextsAreReadBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::uint64_t value = random() >> (1 + random() % 63);
    if (random() % 2 == 0) value = value / 1'000'000 * 1'000'000;
    if (random() % 2 == 0) value &= ~0xfffffull;
    EXPECT_EQ(parse_bytes(format_bytes(value), "bytes"), value);
    EXPECT_EQ(parse_time(format_time(Time{static_cast<std::int64_t>(value)}), "t").count(),
              static_cast<std::int64_t>(value));
    if (value != 0) {
      EXPECT_EQ(parse_rate(format_rate(Rate{value}), "r").bits_per_second, value);
    }
  }
}

TEST(Units, ForPeople) {
  EXPECT_EQ(human_seconds(0.06208), "62.08 ms");
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(1.5), "1.5 s");
  EXPECT_EQ(human_seconds(2e-12), "2 ps");
  EXPECT_EQ(human_seconds(999.94e-9), "999.9 ns");
  EXPECT_EQ(human_seconds(999.96e-9), "1 us");
  EXPECT_EQ(human_seconds(-999.96e-9), "-1 us");
  EXPECT_EQ(human_seconds(999.96), "1000 s");
  EXPECT_EQ(human_bytes_per_second(34.6e9 / 8), "34.6 Gb/s");
  EXPECT_EQ(human_bytes_per_second(0.125), "1 b/s");
}

}  // namespace
}  // namespace slackline::sched
