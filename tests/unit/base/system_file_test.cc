#include "base/system_file.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/temp_folder.h"

namespace slackline::base {
namespace {

TEST(SystemFile, HasAFirstLine) {
  const testing::TempFolder folder;
  EXPECT_EQ(first_line(folder.write("two", "0-3,7\nmore\n")), "0-3,7");
  EXPECT_EQ(first_line(folder.write("open", "no end")), "no end");
  EXPECT_EQ(first_line(folder.write("empty", "")), "");
  EXPECT_EQ(first_line(folder.path("missing")), "");
}

TEST(SystemFile, BeginsWithANumber) {
  const testing::TempFolder folder;
  EXPECT_EQ(first_number<std::uint64_t>(folder.write("most", "18446744073709551615\n")),
            18446744073709551615u);
  EXPECT_EQ(first_number<std::int64_t>(folder.write("speed", "-1\n")), -1);
  EXPECT_EQ(first_number<double>(folder.write("rate", "2.5 Gb/sec (1X)\n")), 2.5);
  EXPECT_EQ(first_number<int>(folder.write("node", "3")), 3);
  EXPECT_EQ(first_number<std::uint64_t>(folder.write("max", "max\n")), std::nullopt);
  EXPECT_EQ(first_number<int>(folder.write("empty", "")), std::nullopt);
  EXPECT_EQ(first_number<int>(folder.path("missing")), std::nullopt);
}

}  // namespace
}  // namespace slackline::base
