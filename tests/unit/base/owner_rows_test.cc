// Rows of owners that come by turns stay as they were added.
#include "base/owner_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace slackline::base {
namespace {

TEST(OwnerRows, StandInARowAndLeaveCopiesBetween) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 100; ++n) {
    const auto owners = static_cast<std::uint32_t>(1 + random() % 5);
    OwnerRows rows(owners, 1 + random() % 16);
    std::vector<int> table;
    std::vector<std::pair<std::size_t, std::vector<int>>> added;
    int value = 1;
    for (int i = 0; i < 100; ++i) {
      std::vector<int> row(random() % 20);  // some are longer than the room of an owner
      for (int& of_row : row) of_row = value++;
      const auto owner = static_cast<std::uint32_t>(random() % owners);
      added.emplace_back(rows.add(owner, std::span<const int>(row), table), row);
    }
    for (const auto& [place, row] : added) {
      ASSERT_LE(place + row.size(), table.size());
      EXPECT_TRUE(std::equal(row.begin(), row.end(), table.data() + place));
    }
    EXPECT_EQ(std::count(table.begin(), table.end(), 0), 0) << "what is unused is a copy";
  }
}

}  // namespace
}  // namespace slackline::base
