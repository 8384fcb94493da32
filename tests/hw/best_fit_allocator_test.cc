// Memory of any size: the smallest free run that fits is taken, runs grow together again, and
// nothing overlaps, as a model says that looks at every byte.
#include "hw/memory/best_fit_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/hw/allocator_model.h"

namespace slackline::hw {
namespace {

TEST(BestFitAllocator, TakesTheSmallestRunThatFits) {
  BestFitAllocator region(100);
  std::vector<Extent> extents;
  for (int i = 0; i < 10; ++i) extents.push_back(*region.allocate(10, 1));
  EXPECT_FALSE(region.allocate(1, 1));
  // Free runs: 30 bytes at 10, 20 at 50, 20 at 80.
  for (const std::size_t i : {1u, 2u, 3u, 5u, 6u, 8u, 9u}) region.free(extents[i]);
  EXPECT_EQ(region.free_bytes(), 70u);
  EXPECT_EQ(region.largest_free(), 30u);
  EXPECT_EQ(region.allocate(15, 1), (Extent{50, 15})) << "the first of the smallest";
  EXPECT_EQ(region.allocate(5, 1), (Extent{65, 5})) << "what is left of it";
  EXPECT_EQ(region.allocate(21, 1), (Extent{10, 21}));
  EXPECT_FALSE(region.allocate(21, 1));
  EXPECT_EQ(region.allocate(20, 1), (Extent{80, 20}));
}

TEST(BestFitAllocator, RunsGrowTogether) {
  // Three of a region each way: freed in every order they are one run again.
  std::vector<std::size_t> order{0, 1, 2};
  do {
    BestFitAllocator region(30);
    std::vector<Extent> extents;
    for (int i = 0; i < 3; ++i) extents.push_back(*region.allocate(10, 1));
    for (const std::size_t i : order) region.free(extents[i]);
    EXPECT_EQ(region.largest_free(), 30u);
    EXPECT_EQ(region.allocate(30, 1), (Extent{0, 30}));
  } while (std::ranges::next_permutation(order).found);
}

// The gap before an aligned extent may be had by others.
TEST(BestFitAllocator, AlignsAndWastesNothing) {
  BestFitAllocator region(256);
  EXPECT_EQ(region.allocate(1)->offset, 0u);
  EXPECT_EQ(region.allocate(1)->offset, 64u);
  EXPECT_EQ(region.allocate(63, 1), (Extent{1, 63}));
  // A run that is as large, and lies so that it does not fit.
  BestFitAllocator other(200);
  const auto first = other.allocate(10, 1);
  const auto second = other.allocate(70, 1);
  const auto third = other.allocate(1, 1);
  other.free(*second);
  EXPECT_EQ(other.allocate(64, 64), (Extent{128, 64}));
  EXPECT_EQ(other.allocate(16, 64), (Extent{64, 16}));
  other.free(*first);
  other.free(*third);
}

TEST(BestFitAllocator, RefusesWhatIsNoExtent) {
  EXPECT_THROW(BestFitAllocator(0), InputError);
  BestFitAllocator region(100);
  EXPECT_THROW(region.allocate(0), InputError);
  EXPECT_THROW(region.allocate(1, 0), InputError);
  EXPECT_THROW(region.allocate(1, 12), InputError);
  EXPECT_THROW(region.free({0, 10}), InputError);
  const auto extent = region.allocate(10, 1);
  EXPECT_THROW(region.free({0, 9}), InputError);
  EXPECT_THROW(region.free({1, 9}), InputError);
  region.free(*extent);
  EXPECT_THROW(region.free(*extent), InputError) << "twice";
  EXPECT_FALSE(region.allocate(~std::uint64_t{0}));
  EXPECT_FALSE(region.allocate(101, 1));
  EXPECT_EQ(region.free_bytes(), 100u);
}

// Of every byte: whether it is free.
class RunModel {
 public:
  explicit RunModel(std::size_t bytes) : free_(bytes, true) {}

  std::optional<Extent> allocate(std::size_t bytes, std::size_t alignment) {
    std::optional<std::pair<std::size_t, std::size_t>> best;  // the run's bytes, the place
    for (std::size_t begin = 0; begin < free_.size();) {
      std::size_t end = begin;
      while (end < free_.size() && free_[end]) ++end;
      std::size_t place = begin;
      while (place % alignment != 0) ++place;
      if (place + bytes <= end && (!best || end - begin < best->first)) best = {end - begin, place};
      begin = end + 1;
    }
    if (!best) return std::nullopt;
    set(best->second, bytes, false);
    return Extent{best->second, bytes};
  }
  void free(const Extent& extent) { set(extent.offset, extent.bytes, true); }
  std::uint64_t free_bytes() const {
    return static_cast<std::uint64_t>(std::ranges::count(free_, true));
  }
  std::uint64_t largest() const {
    std::uint64_t most = 0;
    std::uint64_t run = 0;
    for (const bool is_free : free_) {
      run = is_free ? run + 1 : 0;
      most = std::max(most, run);
    }
    return most;
  }

 private:
  void set(std::size_t offset, std::size_t bytes, bool to) {
    for (std::size_t i = offset; i < offset + bytes; ++i) free_[i] = to;
  }
  std::vector<bool> free_;
};

TEST(BestFitAllocator, AgreesWithAModelOfEveryByte) {
  testing::expect_as_model<BestFitAllocator, RunModel>(
      {3, 5, 4}, [](const BestFitAllocator& region, const RunModel& model) {
        ASSERT_EQ(region.free_bytes(), model.free_bytes());
        ASSERT_EQ(region.largest_free(), model.largest());
      });
}

}  // namespace
}  // namespace slackline::hw
