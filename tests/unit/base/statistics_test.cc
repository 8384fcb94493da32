#include "base/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/mix.h"

namespace slackline::base {
namespace {

TEST(Statistics, TheMedianIsTheMiddleOneOrTheMeanOfTwo) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1}), 5);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({9, 1, 4, 2}), 3);
}

// The least number that at least so many percent do not exceed, by its definition.
TEST(Statistics, PercentilesAreThoseOfTheirDefinition) {
  for (std::size_t count = 1; count <= 120; ++count) {
    std::vector<double> sorted;
    for (std::size_t i = 0; i < count; ++i) {
      sorted.push_back(static_cast<double>(sched::draw(count, {i}) % 50));
    }
    std::ranges::sort(sorted);
    for (std::size_t percent = 0; percent <= 100; ++percent) {
      const auto reaches = [&](double value) {
        const auto within = std::ranges::upper_bound(sorted, value) - sorted.begin();
        return static_cast<std::size_t>(within) * 100 >= percent * count;
      };
      EXPECT_EQ(percentile(sorted, percent), *std::ranges::find_if(sorted, reaches))
          << percent << " % of " << count;
    }
  }
}

}  // namespace
}  // namespace slackline::base
