#include "base/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline::base {
namespace {

using ::testing::ElementsAre;

TEST(Split, GivesOneItemMoreThanThereAreSeparators) {
  EXPECT_THAT(split("a,bc,d"), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(split("a"), ElementsAre("a"));
  EXPECT_THAT(split(""), ElementsAre(""));
  EXPECT_THAT(split(","), ElementsAre("", ""));
  EXPECT_THAT(split("a,"), ElementsAre("a", ""));
  EXPECT_THAT(split(",a,,b"), ElementsAre("", "a", "", "b"));
  EXPECT_THAT(split("a,b c", ' '), ElementsAre("a,b", "c"));
}

TEST(Split, TakesItemsUntilNothingIsLeft) {
  std::string_view text = "a,,b,";
  EXPECT_EQ(take_item(text), "a");
  EXPECT_EQ(text, ",b,");
  EXPECT_EQ(take_item(text), "");
  EXPECT_EQ(take_item(text), "b");
  EXPECT_EQ(text, "");
  EXPECT_EQ(take_item(text), "");
}

TEST(Split, TrimsLines) {
  EXPECT_EQ(trimmed(" \ta b\t\r"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \t\r"), "");
  EXPECT_EQ(trimmed(""), "");
}

}  // namespace
}  // namespace slackline::base
