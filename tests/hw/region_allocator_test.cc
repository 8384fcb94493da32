// Regions that are registered as a whole, and blocks out of them.
#include "hw/memory/region_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/mix.h"
#include "hw/numa_nodes.h"
#include "tests/support/sanitized.h"

namespace slackline::hw {
namespace {

constexpr std::uint64_t kRegion = 64 << 10;

class RegionAllocatorTest : public ::testing::Test {
 protected:
  static RegionOptions options() {
    RegionOptions options;
    options.region_bytes = kRegion;
    return options;
  }
  LocalMemory register_memory(std::span<std::byte> memory) {
    registered.push_back(memory);
    const auto number = static_cast<std::uint32_t>(registered.size());
    return {number, {1'000'000 * std::uint64_t{number}, 5 * std::uint64_t{number}}};
  }

  std::vector<std::span<std::byte>> registered;
  MemoryBudget budget{10 * kRegion};
  RegionAllocator regions{options(), budget,
                          [this](std::span<std::byte> memory) { return register_memory(memory); }};
};

TEST_F(RegionAllocatorTest, RegistersOnceForManyBlocks) {
  std::vector<RegionBlock> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(*regions.allocate(1000));
  // 1024 bytes each, with what aligns the next.
  ASSERT_EQ(registered.size(), 1u);
  EXPECT_EQ(registered[0].size(), kRegion);
  for (const RegionBlock& block : blocks) {
    const auto offset = static_cast<std::uint64_t>(block.bytes.data() - registered[0].data());
    EXPECT_EQ(offset % 64, 0u);
    EXPECT_EQ(block.bytes.size(), 1000u);
    EXPECT_EQ(block.registered.handle, 1u);
    EXPECT_EQ(block.registered.remote, (RemoteMemory{1'000'000 + offset, 5}));
  }
  blocks.push_back(*regions.allocate(1000));
  EXPECT_EQ(registered.size(), 2u);
  EXPECT_EQ(blocks.back().registered.handle, 2u);
  EXPECT_EQ(regions.regions(), 2u);
  EXPECT_EQ(budget.taken(), 2 * kRegion);
  for (const RegionBlock& block : blocks) regions.free(block);
  EXPECT_EQ(regions.free_bytes(), 2 * kRegion);
  EXPECT_EQ(budget.taken(), 2 * kRegion) << "regions stay";
  EXPECT_THROW(regions.free(blocks.front()), InputError) << "twice";
}

TEST_F(RegionAllocatorTest, IsZeroedEachTime) {
  const RegionBlock first = *regions.allocate(kRegion);
  std::memset(first.bytes.data(), 7, first.bytes.size());
  regions.free(first);
  const RegionBlock again = *regions.allocate(kRegion);
  EXPECT_EQ(again.bytes.data(), first.bytes.data());
  EXPECT_TRUE(std::ranges::all_of(again.bytes, [](std::byte b) { return b == std::byte{0}; }));
}

// A block that is larger than a region has one of its own; what the budget has not is refused, and
// where it has no whole region left, one is as small as it may be.
TEST_F(RegionAllocatorTest, KeepsToItsBudget) {
  const auto large = regions.allocate(9 * kRegion + 100);
  ASSERT_TRUE(large);
  EXPECT_EQ(budget.taken(), 9 * kRegion + 100);
  EXPECT_FALSE(regions.allocate(kRegion));
  const auto small = regions.allocate(kRegion / 2);
  ASSERT_TRUE(small);
  EXPECT_EQ(registered.back().size(), kRegion / 2);
  EXPECT_FALSE(regions.allocate(kRegion));
  EXPECT_EQ(budget.taken(), 9 * kRegion + kRegion / 2 + 100);
  regions.free(*large);
  EXPECT_TRUE(regions.allocate(kRegion)) << "out of the large one";
}

TEST_F(RegionAllocatorTest, GivesOfTheNodeThatIsAskedFor) {
  const std::vector<int> nodes = NumaNodes::of_this_machine().numbers();
  for (const int node : nodes) {
    const auto block = regions.allocate(100, node);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->pages.node, node);
  }
  const std::uint64_t taken = budget.taken();
  EXPECT_THROW(regions.allocate(100, 1000), EnvironmentError);
  EXPECT_EQ(budget.taken(), taken) << "given back";
  EXPECT_THROW(regions.allocate(0), InputError);
}

// Whoever registers may fail: nothing is lost of the budget.
TEST(RegionAllocator, SurvivesARegistrationThatFails) {
  MemoryBudget budget(10 * kRegion);
  bool fails = true;
  RegionOptions options;
  options.region_bytes = kRegion;
  RegionAllocator regions(options, budget, [&](std::span<std::byte>) {
    if (fails) throw EnvironmentError("no more registrations");
    return LocalMemory{};
  });
  EXPECT_THROW(regions.allocate(1), EnvironmentError);
  EXPECT_EQ(budget.taken(), 0u);
  EXPECT_EQ(regions.regions(), 0u);
  fails = false;
  EXPECT_TRUE(regions.allocate(1));
}

// Each block keeps its own bytes while others come and go.
TEST_F(RegionAllocatorTest, BlocksKeepTheirBytes) {
  struct Kept {
    RegionBlock block;
    std::byte mark;
  };
  std::vector<Kept> kept;
  for (std::uint64_t step = 0; step < testing::cases(3000u); ++step) {
    const auto drawn = [&](std::uint64_t what, std::uint32_t bound) {
      return sched::below(sched::draw(11, {step, what}), bound);
    };
    if (kept.empty() || drawn(0, 2) == 0) {
      const auto block = regions.allocate(1 + drawn(1, 40'000));
      if (!block) continue;
      const auto mark = static_cast<std::byte>(1 + drawn(2, 255));
      std::ranges::fill(block->bytes, mark);
      kept.push_back({*block, mark});
    } else {
      const auto chosen = kept.begin() + drawn(3, static_cast<std::uint32_t>(kept.size()));
      const std::byte mark = chosen->mark;
      const std::span<std::byte> bytes = chosen->block.bytes;
      // All alike if they are like the first, and each like the next.
      ASSERT_EQ(bytes[0], mark);
      ASSERT_EQ(std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1), 0) << step;
      regions.free(chosen->block);
      kept.erase(chosen);
    }
  }
  for (const Kept& one : kept) regions.free(one.block);
  EXPECT_EQ(regions.free_bytes(), regions.region_bytes());
}

TEST(MemoryBudget, IsNeverOverdrawn) {
  MemoryBudget budget(100);
  EXPECT_TRUE(budget.take(60));
  EXPECT_FALSE(budget.take(41));
  EXPECT_TRUE(budget.take(40));
  EXPECT_FALSE(budget.take(1));
  EXPECT_TRUE(budget.take(0));
  EXPECT_FALSE(budget.take(~std::uint64_t{0}));
  budget.give_back(60);
  EXPECT_EQ(budget.taken(), 40u);
  EXPECT_FALSE(budget.take(61));
  EXPECT_TRUE(budget.take(60));
}

}  // namespace
}  // namespace slackline::hw
