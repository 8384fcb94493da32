#include "base/forget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace slackline::base {
namespace {

// None of what stands beside, whatever the size of a page.
TEST(Forget, TakesWholePagesOnly) {
  const auto pages = [](std::uintptr_t from, std::uintptr_t to, std::size_t page) {
    const WholePages found = whole_pages(from, to, page);
    return std::pair(found.begin, found.end);
  };
  EXPECT_EQ(pages(0x1000, 0x3000, 0x1000), std::pair(0x1000ul, 0x3000ul));
  EXPECT_EQ(pages(0x1001, 0x3fff, 0x1000), std::pair(0x2000ul, 0x3000ul));
  // 64 KiB each: what 4 KiB would have as twelve and more are none, or one.
  EXPECT_EQ(pages(0x30000, 0x3f000, 0x10000), std::pair(0x30000ul, 0x30000ul));
  EXPECT_EQ(pages(0x31000, 0x5f000, 0x10000), std::pair(0x40000ul, 0x50000ul));
  const auto [begin, end] = pages(0x31000, 0x3f000, 0x10000);
  EXPECT_GE(begin, end);
}

TEST(Forget, LeavesWhatStandsBehind) {
  std::vector<std::uint64_t> table(1u << 17);
  std::iota(table.begin(), table.end(), 1);
  table.reserve(1u << 18);
  for (std::size_t count = 0; count < table.size(); count += 4999) {
    forget_front(table, count);
    ASSERT_EQ(table[count], count + 1);
    ASSERT_EQ(table.back(), table.size());
  }
  forget_unused(table);
  EXPECT_EQ(table.back(), table.size());
}

}  // namespace
}  // namespace slackline::base
