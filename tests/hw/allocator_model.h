// Allocators against models that look at every byte, on random orders of allocate() and free().
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/mix.h"
#include "hw/memory/extent.h"
#include "tests/support/sanitized.h"

namespace slackline::testing {

struct AllocatorSteps {
  std::uint32_t allocate;  // so many of…
  std::uint32_t of;        // …so many steps allocate, the others free
  std::uint32_t part;      // up to 1 / part of the memory at a time
};

/// `agree(allocator, model)` holds the two to each other after each step.
template <class Allocator, class Model, class Agree>
void expect_as_model(const AllocatorSteps& steps, Agree&& agree) {
  std::uint64_t refused = 0;
  std::uint64_t given = 0;
  for (std::uint64_t seed = 0; seed < cases(300u) && !::testing::Test::HasFailure(); ++seed) {
    const std::size_t bytes = 1 + sched::below(sched::draw(seed, {0}), 300);
    Allocator allocator(bytes);
    Model model(bytes);
    std::vector<hw::Extent> live;
    for (std::uint64_t step = 1; step <= 200; ++step) {
      const auto drawn = [&](std::uint64_t what, std::uint32_t bound) {
        return sched::below(sched::draw(seed, {step, what}), bound);
      };
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", step " << step);
      if (live.empty() || drawn(0, steps.of) < steps.allocate) {
        const std::size_t wanted = 1 + drawn(1, static_cast<std::uint32_t>(bytes) / steps.part + 2);
        const std::size_t alignment = std::size_t{1} << drawn(2, 7);
        const auto got = allocator.allocate(wanted, alignment);
        ASSERT_EQ(got, model.allocate(wanted, alignment));
        got ? ++given : ++refused;
        if (!got) continue;
        ASSERT_EQ(got->offset % alignment, 0u);
        ASSERT_LE(got->offset + got->bytes, bytes);
        for (const hw::Extent& other : live) {
          ASSERT_TRUE(other.offset + other.bytes <= got->offset ||
                      got->offset + got->bytes <= other.offset);
        }
        live.push_back(*got);
      } else {
        const auto chosen = live.begin() + drawn(3, static_cast<std::uint32_t>(live.size()));
        allocator.free(*chosen);
        model.free(*chosen);
        live.erase(chosen);
      }
      agree(allocator, model);
      ASSERT_EQ(allocator.live(), live.size());
    }
    for (const hw::Extent& extent : live) allocator.free(extent);
    ASSERT_TRUE(allocator.allocate(bytes, 1)) << seed;
  }
  // Neither is rare.
  EXPECT_GT(refused, given / 10);
  EXPECT_GT(given, refused / 10);
}

}  // namespace slackline::testing
