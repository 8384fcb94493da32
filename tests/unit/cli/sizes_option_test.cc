#include "cli/sizes_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace slackline::cli {
namespace {

using ::testing::ElementsAre;

TEST(SizesOption, RangesAndLists) {
  EXPECT_THAT(parse_sizes("1KiB..8KiB"), ElementsAre(1024, 2048, 4096, 8192));
  EXPECT_THAT(parse_sizes("1KiB..64KiB:x4"), ElementsAre(1024, 4096, 16384, 65536));
  EXPECT_THAT(parse_sizes("3..20"), ElementsAre(3, 6, 12));
  EXPECT_THAT(parse_sizes("5..5"), ElementsAre(5));
  EXPECT_THAT(parse_sizes("0"), ElementsAre(0));
  EXPECT_THAT(parse_sizes("1MB,7,2..4,7"), ElementsAre(1'000'000, 7, 2, 4, 7));
}

TEST(SizesOption, UpToTheLargestSize) {
  const auto sizes = parse_sizes("1..9223372036854775807");
  EXPECT_EQ(sizes.size(), 63u);
  EXPECT_EQ(sizes.back(), std::uint64_t{1} << 62);
  EXPECT_THAT(parse_sizes("4611686018427387904..9223372036854775807:x1024"),
              ElementsAre(std::uint64_t{1} << 62));
}

TEST(SizesOption, WhatIsNone) {
  for (const char* const text :
       {"", ",", "1KiB,", ",1", "x", "1..", "..4", "1...4", "0..4", "8..4", "1..4:x1", "1..4:x",
        "1..4:x1025", "1..4:4", "1..4:x2.5", "1KiB..4KiB:x2:x2", "-1", "1 ..4"}) {
    EXPECT_THROW(parse_sizes(text), InputError) << text;
  }
  std::string many = "1";
  for (std::size_t i = 1; i < kMostSizes; ++i) many += ",1";
  EXPECT_EQ(parse_sizes(many).size(), kMostSizes);
  EXPECT_THROW(parse_sizes(many + ",1"), InputError);
  EXPECT_THROW(parse_sizes(many + ",1..2"), InputError);
}

}  // namespace
}  // namespace slackline::cli
