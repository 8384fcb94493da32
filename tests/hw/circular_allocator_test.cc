// Memory in turns: what is given out never overlaps, and space comes back in the order in which it
// was given out, as a model says that looks at every byte.
#include "hw/memory/circular_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/error.h"
#include "tests/hw/allocator_model.h"

namespace slackline::hw {
namespace {

TEST(CircularAllocator, GivesSpaceBackInOrder) {
  CircularAllocator circle(30);
  const auto first = circle.allocate(10, 1);
  const auto second = circle.allocate(10, 1);
  const auto third = circle.allocate(10, 1);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(*first, (Extent{0, 10}));
  EXPECT_EQ(*second, (Extent{10, 10}));
  EXPECT_EQ(*third, (Extent{20, 10}));
  EXPECT_FALSE(circle.allocate(1, 1));
  circle.free(*second);
  EXPECT_FALSE(circle.allocate(1, 1)) << "the first is still there";
  EXPECT_EQ(circle.held_bytes(), 30u);
  EXPECT_EQ(circle.live(), 2u);
  circle.free(*first);
  EXPECT_EQ(circle.held_bytes(), 10u);
  const auto fourth = circle.allocate(20, 1);
  ASSERT_TRUE(fourth);
  EXPECT_EQ(*fourth, (Extent{0, 20}));
  circle.free(*third);
  circle.free(*fourth);
  EXPECT_EQ(circle.held_bytes(), 0u);
  // All of it at once, wherever the circle stood.
  EXPECT_EQ(circle.allocate(30, 1), (Extent{0, 30}));
}

// An extent never goes over the region's end: what is left there waits for the one before it.
TEST(CircularAllocator, LeavesTheEndWhereAnExtentDoesNotFit) {
  CircularAllocator circle(100);
  const auto first = circle.allocate(40, 1);
  const auto second = circle.allocate(40, 1);
  circle.free(*first);
  const auto third = circle.allocate(30, 1);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->offset, 0u);
  EXPECT_FALSE(circle.allocate(11, 1)) << "only 10 bytes before the second";
  EXPECT_EQ(circle.held_bytes(), 90u);
  circle.free(*second);
  EXPECT_EQ(circle.held_bytes(), 30u);
  EXPECT_EQ(circle.allocate(70, 1), (Extent{30, 70}));
}

TEST(CircularAllocator, BeginsAtCacheLinesUnlessToldOtherwise) {
  CircularAllocator circle(1000);
  EXPECT_EQ(circle.allocate(1)->offset, 0u);
  EXPECT_EQ(circle.allocate(1)->offset, 64u);
  EXPECT_EQ(circle.allocate(1, 2)->offset, 66u);
  EXPECT_EQ(circle.allocate(1, 256)->offset, 256u);
}

TEST(CircularAllocator, RefusesWhatIsNoExtent) {
  EXPECT_THROW(CircularAllocator(0), InputError);
  CircularAllocator circle(100);
  EXPECT_THROW(circle.allocate(0), InputError);
  EXPECT_THROW(circle.allocate(1, 0), InputError);
  EXPECT_THROW(circle.allocate(1, 3), InputError);
  EXPECT_THROW(circle.free({0, 10}), InputError);
  const auto extent = circle.allocate(10, 1);
  const auto behind = circle.allocate(10, 1);
  EXPECT_THROW(circle.free({0, 11}), InputError);
  EXPECT_THROW(circle.free({1, 10}), InputError);
  EXPECT_THROW(circle.free({500, 10}), InputError);
  circle.free(*behind);
  EXPECT_THROW(circle.free(*behind), InputError) << "twice, while it waits";
  circle.free(*extent);
  EXPECT_THROW(circle.free(*extent), InputError) << "twice";
  EXPECT_FALSE(circle.allocate(~std::uint64_t{0}));
  EXPECT_FALSE(circle.allocate(101, 1));
}

// Byte by byte: who holds it, with the gap before it; the end that a circle leaves is held by the
// last extent before it.
class CircleModel {
 public:
  explicit CircleModel(std::size_t bytes) : holders_(bytes, kNobody) {}

  std::optional<Extent> allocate(std::size_t bytes, std::size_t alignment) {
    if (pieces_.empty()) at_ = 0;
    if (const auto found = place(at_, bytes, alignment)) return found;
    if (pieces_.empty() || !is_free(at_, holders_.size())) return std::nullopt;
    const std::size_t end = at_;
    const auto found = place(0, bytes, alignment);
    if (found) hold(end, holders_.size(), pieces_.back().number - 1);
    return found;
  }
  void free(const Extent& extent) {
    for (Piece& piece : pieces_) piece.freed = piece.freed || piece.extent == extent;
    while (!pieces_.empty() && pieces_.front().freed) {
      std::ranges::replace(holders_, pieces_.front().number, kNobody);
      pieces_.pop_front();
    }
  }
  std::uint64_t held() const {
    return holders_.size() - static_cast<std::size_t>(std::ranges::count(holders_, kNobody));
  }

 private:
  static constexpr int kNobody = -1;
  struct Piece {
    int number = 0;
    Extent extent;
    bool freed = false;
  };

  bool is_free(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (holders_[i] != kNobody) return false;
    }
    return true;
  }
  void hold(std::size_t begin, std::size_t end, int number) {
    for (std::size_t i = begin; i < end; ++i) holders_[i] = number;
  }
  std::optional<Extent> place(std::size_t from, std::size_t bytes, std::size_t alignment) {
    std::size_t offset = from;
    while (offset % alignment != 0) ++offset;
    if (bytes > holders_.size() || offset > holders_.size() - bytes) return std::nullopt;
    if (!is_free(from, offset + bytes)) return std::nullopt;
    hold(from, offset + bytes, next_);
    pieces_.push_back({next_++, {offset, bytes}, false});
    at_ = offset + bytes;
    return pieces_.back().extent;
  }

  std::vector<int> holders_;
  std::deque<Piece> pieces_;
  std::size_t at_ = 0;
  int next_ = 0;
};

TEST(CircularAllocator, AgreesWithAModelOfEveryByte) {
  testing::expect_as_model<CircularAllocator, CircleModel>(
      {1, 2, 3}, [](const CircularAllocator& circle, const CircleModel& model) {
        ASSERT_EQ(circle.held_bytes(), model.held());
      });
}

}  // namespace
}  // namespace slackline::hw
