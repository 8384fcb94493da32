// The tree of regions, against what each pair of regions says.
#include "sched/region_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sched/builder.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kOps = 7;

using Range = std::pair<std::uint32_t, std::uint32_t>;  // first and end

Schedule with_regions(const std::vector<Range>& ranges) {
  ScheduleBuilder b(1);
  for (std::uint32_t i = 0; i < kOps; ++i) {
    Op op;
    op.rank = RankId(0);
    b.add(op);
  }
  for (const auto& [first, end] : ranges) {
    Region region;
    region.kind = RegionKind::kRepeat;
    region.entry = OpId(first);
    region.count = end - first;
    b.add_region(region);
  }
  return b.build();
}

std::vector<Range> random_ranges(std::mt19937_64& random) {
  std::vector<Range> ranges(random() % 5);
  for (auto& [first, end] : ranges) {
    first = static_cast<std::uint32_t>(random() % kOps);
    end = first + 1 + static_cast<std::uint32_t>(random() % (kOps - first));
  }
  return ranges;
}

bool holds(const Range& outer, const Range& inner) {
  return outer.first <= inner.first && inner.second <= outer.second;
}
bool tangled(const Range& a, const Range& b) {
  return a.first < b.second && b.first < a.second && !holds(a, b) && !holds(b, a);
}

// The regions around a node, the outermost first. Of one range, an earlier region holds a later.
std::vector<std::uint32_t> all_around(const std::vector<Range>& ranges, std::uint32_t node) {
  const Range own = node < kOps ? Range{node, node + 1} : ranges[node - kOps];
  std::vector<std::uint32_t> around;
  for (std::uint32_t r = 0; r < ranges.size(); ++r) {
    const bool same = node >= kOps && ranges[r] == own;
    if (same ? r < node - kOps : holds(ranges[r], own)) around.push_back(r);
  }
  std::stable_sort(around.begin(), around.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranges[a].second - ranges[a].first > ranges[b].second - ranges[b].first;
  });
  return around;
}

TEST(RegionTree, IsWhatThePairsSay) {
  std::mt19937_64 random(2);
  int trees = 0;
  int refused = 0;
  for (int n = 0; n < 3000; ++n) {
    const std::vector<Range> ranges = random_ranges(random);
    const Schedule schedule = with_regions(ranges);
    bool sound = true;
    for (const Range& a : ranges) {
      for (const Range& b : ranges) sound = sound && !tangled(a, b);
    }
    if (!sound) {
      EXPECT_THROW(RegionTree{schedule}, InputError);
      ++refused;
      continue;
    }
    ++trees;
    const RegionTree tree(schedule);
    ASSERT_EQ(tree.empty(), ranges.empty());
    std::vector<std::vector<std::uint32_t>> children(ranges.size());
    for (std::uint32_t node = 0; node < kOps + ranges.size(); ++node) {
      const auto around = all_around(ranges, node);
      ASSERT_EQ(tree.around(node), around.empty() ? RegionTree::kNone : around.back());
      ASSERT_EQ(tree.is_region(node), node >= kOps);
      if (!around.empty()) children[around.back()].push_back(node);
    }
    for (std::uint32_t r = 0; r < ranges.size(); ++r) {
      const auto found = tree.children(r);
      ASSERT_EQ(std::vector<std::uint32_t>(found.begin(), found.end()), children[r]);
    }
    for (std::uint32_t a = 0; a < kOps; ++a) {
      for (std::uint32_t b = 0; b < kOps; ++b) {
        const auto one = all_around(ranges, a);
        const auto two = all_around(ranges, b);
        const auto [left, right] = std::mismatch(one.begin(), one.end(), two.begin(), two.end());
        ASSERT_EQ(tree.lifted(OpId(a), OpId(b)), std::pair(left == one.end() ? a : kOps + *left,
                                                           right == two.end() ? b : kOps + *right));
      }
    }
  }
  EXPECT_GT(trees, 500);
  EXPECT_GT(refused, 500);
}

TEST(RegionTree, NamesWhatOverlaps) {
  const Schedule schedule = with_regions({{3, 6}, {1, 4}});
  EXPECT_EQ(testing::error_of([&] { const RegionTree tree(schedule); }),
            "region 0 (repeat, from op 3 (join, rank 0)) begins within region 1 (repeat, from "
            "op 1 (join, rank 0)) and ends after it; expected one inside the other, or neither");
}

}  // namespace
}  // namespace slackline::sched
