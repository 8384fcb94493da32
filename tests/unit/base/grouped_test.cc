#include "base/grouped.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace slackline::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Grouped<std::string> sample() {
  const std::vector<std::pair<std::size_t, std::string>> all = {
      {2, "c"}, {0, "a"}, {2, "b"}, {3, "e"}, {2, "d"}};
  return {5, [&](auto&& take) {
            for (const auto& [group, value] : all) take(group, value);
          }};
}

TEST(Grouped, KeepsTheOrderWithinAGroup) {
  const Grouped<std::string> grouped = sample();
  ASSERT_EQ(grouped.groups(), 5u);
  EXPECT_THAT(grouped[0], ElementsAre("a"));
  EXPECT_THAT(grouped[1], IsEmpty());
  EXPECT_THAT(grouped[2], ElementsAre("c", "b", "d"));
  EXPECT_THAT(grouped[3], ElementsAre("e"));
  EXPECT_THAT(grouped[4], IsEmpty());
  EXPECT_THAT(grouped.all(), ElementsAre("a", "c", "b", "d", "e"));
}

TEST(Grouped, LetsValuesBeChanged) {
  Grouped<std::string> grouped = sample();
  grouped[2].front() = "x";
  EXPECT_THAT(grouped.all(), ElementsAre("a", "x", "b", "d", "e"));
}

TEST(Grouped, MayBeEmpty) {
  EXPECT_EQ(Grouped<int>().groups(), 0u);
  EXPECT_THAT(Grouped<int>().all(), IsEmpty());
  const Grouped<int> nothing(2, [](auto&&) {});
  EXPECT_EQ(nothing.groups(), 2u);
  EXPECT_THAT(nothing[1], IsEmpty());
}

}  // namespace
}  // namespace slackline::base
