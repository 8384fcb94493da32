#include "base/enum_names.h"

#include <gtest/gtest.h>

namespace slackline::base {
namespace {

enum class Signal { kRed, kGreen };
constexpr EnumNames<Signal, 2> kSignals = {"red", "green"};

TEST(EnumNames, LeadBothWays) {
  EXPECT_EQ(kSignals[Signal::kRed], "red");
  EXPECT_EQ(kSignals[Signal::kGreen], "green");
  EXPECT_EQ(kSignals.find("red"), Signal::kRed);
  EXPECT_EQ(kSignals.find("green"), Signal::kGreen);
}

TEST(EnumNames, FindNothingElse) {
  EXPECT_EQ(kSignals.find(""), std::nullopt);
  EXPECT_EQ(kSignals.find("re"), std::nullopt);
  EXPECT_EQ(kSignals.find("Red"), std::nullopt);
}

}  // namespace
}  // namespace slackline::base
