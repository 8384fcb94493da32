// Writes with immediate, and the receives that wait for them: matched in order, of each channel
// alone, and of channels that are not open no more than the bound.
#include <gtest/gtest.h>

#include <optional>

#include "base/error.h"
#include "hw/fabric/notices.h"

namespace slackline {
namespace {

constexpr std::size_t kMost = hw::FabricNotices::kMostUnopened;

void expect_completion(const std::optional<hw::Completion>& got, std::uint64_t tag,
                       std::uint32_t immediate) {
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->tag, tag);
  EXPECT_EQ(got->kind, hw::RequestKind::kRecv);
  EXPECT_EQ(got->immediate, immediate);
  EXPECT_EQ(got->bytes, 0u);
}

TEST(FabricNotices, MatchInOrderWhicheverComesFirst) {
  hw::FabricNotices notices("net");
  notices.open(3);
  notices.open(4);
  EXPECT_FALSE(notices.expect(3, 70).has_value());
  EXPECT_FALSE(notices.expect(3, 71).has_value());
  EXPECT_FALSE(notices.arrived(4, 8).has_value());
  expect_completion(notices.arrived(3, 5), 70, 5);
  expect_completion(notices.arrived(3, 6), 71, 6);
  EXPECT_FALSE(notices.arrived(4, 9).has_value());
  expect_completion(notices.expect(4, 80), 80, 8);
  expect_completion(notices.expect(4, 81), 81, 9);
  EXPECT_FALSE(notices.expect(4, 82).has_value());
}

TEST(FabricNotices, WhatCameBeforeTheChannelWasOpenedCounts) {
  hw::FabricNotices notices("net");
  EXPECT_FALSE(notices.arrived(3, 5).has_value());
  EXPECT_THROW(notices.expect(3, 70), InternalError);
  EXPECT_THROW(notices.expect(4, 70), InternalError);
  notices.open(3);
  expect_completion(notices.expect(3, 70), 70, 5);
}

TEST(FabricNotices, NothingIsLeftOfAClosedChannel) {
  hw::FabricNotices notices("net");
  notices.open(3);
  EXPECT_FALSE(notices.arrived(3, 5).has_value());
  notices.close(3);
  EXPECT_THROW(notices.expect(3, 70), InternalError);
  notices.open(3);
  EXPECT_FALSE(notices.expect(3, 70).has_value());
  notices.close(3);
  notices.open(3);
  EXPECT_FALSE(notices.arrived(3, 6).has_value());
}

// All channels that are not open together: those that open make room, those that are open do not
// count.
TEST(FabricNotices, RememberSoManyOfChannelsThatAreNotOpen) {
  hw::FabricNotices notices("net");
  notices.open(1);
  for (std::size_t i = 0; i < 2 * kMost; ++i) notices.arrived(1, 0);
  for (std::size_t i = 0; i < kMost; ++i) {
    ASSERT_FALSE(notices.arrived(i % 2 == 0 ? 2 : 3, 0).has_value());
  }
  EXPECT_THROW(notices.arrived(2, 0), EnvironmentError);
  EXPECT_THROW(notices.arrived(4, 0), EnvironmentError);
  notices.open(2);
  notices.open(2);
  for (std::size_t i = 0; i < kMost / 2; ++i) notices.arrived(5, 0);
  EXPECT_THROW(notices.arrived(3, 0), EnvironmentError);
  expect_completion(notices.expect(2, 70), 70, 0);
}

}  // namespace
}  // namespace slackline
