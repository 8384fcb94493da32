// A list whose first items stand in itself: against a vector, at every length around its bound.
#include "analysis/engines/first_few.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/property/random_runs.h"

namespace slackline::analysis {
namespace {

using testing::Dice;
using List = FirstFew<std::uint32_t, 4>;

void expect_same(const List& list, const std::vector<std::uint32_t>& model) {
  ASSERT_EQ(list.size(), model.size());
  EXPECT_EQ(list.empty(), model.empty());
  std::vector<std::uint32_t> visited;
  list.each([&](std::uint32_t item) { visited.push_back(item); });
  EXPECT_EQ(visited, model);
  for (std::uint32_t n = 0; n < list.size(); ++n) EXPECT_EQ(list[n], model[n]);
  if (!model.empty()) {
    EXPECT_EQ(list.back(), model.back());
  }
}

// As users of a link are kept: whoever goes gives its place to the last.
TEST(FirstFew, IsAsAVector) {
  Dice dice(7);
  List list;
  std::vector<std::uint32_t> model;
  for (std::uint32_t step = 0; step < 2000; ++step) {
    if (model.empty() || (model.size() < 9 && dice.below(2) == 0)) {
      list.push_back(step);
      model.push_back(step);
    } else {
      const auto place = dice.below(list.size());
      list[place] = list.back();
      list.pop_back();
      model[place] = model.back();
      model.pop_back();
    }
    expect_same(list, model);
  }
  const List copy = list;
  expect_same(copy, model);
}

}  // namespace
}  // namespace slackline::analysis
