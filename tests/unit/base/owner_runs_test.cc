// Owner behind owner, held against a stable sort by owner.
#include "base/owner_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace slackline::base {
namespace {

using Item = std::pair<std::uint32_t, std::uint32_t>;  // owner, number

struct Value {
  std::uint32_t owner = 0xffffffffu;
  std::uint32_t number = 0;
};

TEST(OwnerRuns, GatherAsAStableSortDoes) {
  std::mt19937_64 random(3);
  for (int n = 0; n < 300; ++n) {
    const auto owners = static_cast<std::uint32_t>(1 + random() % 9);
    const std::size_t run = std::size_t{1} << random() % 6;
    const auto count = static_cast<std::uint32_t>(random() % 400);
    OwnerRuns runs(owners, run);
    std::vector<Value> table;
    std::vector<Item> items;
    std::vector<std::size_t> places;
    for (std::uint32_t i = 0; i < count; ++i) {
      // The last owner has few or none.
      const auto owner = static_cast<std::uint32_t>(std::min(random() % owners, random() % owners));
      items.emplace_back(owner, i);
      places.push_back(runs.add(owner, Value{owner, i}, table));
      EXPECT_EQ(runs.owner_of(places.back()), owner);
      EXPECT_EQ(table[places.back()].number, i);
    }
    const std::size_t taken = table.size();
    std::vector<std::uint32_t> seen;  // in the order in which they are in their place
    runs.locate();
    runs.gather(table, [&seen](Value& value) { seen.push_back(value.number++); });
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return a.first < b.first; });
    ASSERT_EQ(table.size(), items.size());
    ASSERT_EQ(seen.size(), items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      ASSERT_EQ(Item(table[i].owner, seen[i]), items[i]) << "owners " << owners;
      ASSERT_EQ(table[i].number, items[i].second + 1) << "changed where it stands now";
      ASSERT_EQ(runs.gathered(places[items[i].second]), i);
    }
    std::sort(places.begin(), places.end());
    for (std::size_t place = 0; place < taken + 2 * run; ++place) {
      if (std::binary_search(places.begin(), places.end(), place)) continue;
      ASSERT_GE(runs.gathered(place), items.size()) << "nothing stands at " << place;
    }
  }
}

TEST(OwnerRuns, NobodysPlaceIsTheFirstOwners) {
  const OwnerRuns runs(2, 4);
  EXPECT_EQ(runs.owner_of(17), 0u);
  EXPECT_EQ(runs.gathered(17), 17u);
}

}  // namespace
}  // namespace slackline::base
