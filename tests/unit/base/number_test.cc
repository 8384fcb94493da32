#include "base/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace slackline::base {
namespace {

TEST(WholeNumber, IsAllOfTheText) {
  EXPECT_EQ(whole_number<std::uint32_t>("0"), 0u);
  EXPECT_EQ(whole_number<std::uint32_t>("4294967295"), 4294967295u);
  EXPECT_EQ(whole_number<int>("-7"), -7);
  EXPECT_EQ(whole_number<double>("1.5e-6"), 1.5e-6);
  EXPECT_EQ(whole_number<std::uint32_t>("fF", 16), 255u);
}

TEST(WholeNumber, IsNothingElse) {
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "0x1", "-1", "1.0", "4294967296"}) {
    EXPECT_EQ(whole_number<std::uint32_t>(text), std::nullopt) << text;
  }
  for (const char* text : {"", " 1", "1 ", "+1", "1e", "1e999"}) {
    EXPECT_EQ(whole_number<double>(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace slackline::base
