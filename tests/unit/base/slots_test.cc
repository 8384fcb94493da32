#include "base/slots.h"

#include <gtest/gtest.h>

namespace slackline::base {
namespace {

TEST(Slots, AFreePlaceComesBeforeANewOne) {
  std::vector<int> all;
  std::vector<std::uint32_t> free;
  EXPECT_EQ(take_slot(all, free), 0u);
  EXPECT_EQ(take_slot(all, free), 1u);
  free = {0};
  EXPECT_EQ(take_slot(all, free), 0u);
  EXPECT_EQ(take_slot(all, free), 2u);
  EXPECT_EQ(all.size(), 3u);
}

}  // namespace
}  // namespace slackline::base
