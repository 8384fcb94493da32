#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/error.h"
#include "sched/pattern/binomial_pipeline.h"
#include "sched/pattern/hybrid.h"
#include "sched/pattern/rack_map.h"
#include "tests/unit/sched/pattern_checker.h"

namespace slackline::sched {
namespace {

std::uint32_t leader_of(const MulticastOptions& options, std::uint32_t rack) {
  if (options.rack_of_rank[options.root.value] == rack) return options.root.value;
  const auto& racks = options.rack_of_rank;
  return static_cast<std::uint32_t>(std::find(racks.begin(), racks.end(), rack) - racks.begin());
}

// Between racks blocks go from leader to leader, first; then they stay in the rack.
void expect_two_phases(const MulticastOptions& options) {
  const Plan plan = hybrid(options);
  ASSERT_EQ(broken_promise(plan), "");
  const auto& rack = options.rack_of_rank;
  const std::uint32_t racks = *std::max_element(rack.begin(), rack.end()) + 1;
  const std::uint32_t seeded = racks == 1 ? 0 : plan.blocks - 1 + ceil_log2(racks);
  for (const Transfer& t : plan.transfers) {
    const std::uint32_t from = rack[t.src.value];
    const std::uint32_t to = rack[t.dst.value];
    if (t.step < seeded) {
      ASSERT_NE(from, to);
      ASSERT_EQ(t.src.value, leader_of(options, from));
      ASSERT_EQ(t.dst.value, leader_of(options, to));
    } else {
      ASSERT_EQ(from, to);
      ASSERT_NE(t.dst.value, leader_of(options, to));
    }
  }
}

TEST(Hybrid, SeedsLeadersThenRacksWhereverTheRanksStand) {
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    const auto n = 1 + static_cast<std::uint32_t>(random() % 60);
    const auto racks = 1 + static_cast<std::uint32_t>(random() % n);
    MulticastOptions options = options_of(n, 1 + static_cast<std::uint32_t>(random() % 12),
                                          static_cast<std::uint32_t>(random() % n));
    options.rack_of_rank.resize(n);
    std::iota(options.rack_of_rank.begin(), options.rack_of_rank.end(), 0u);
    for (std::uint32_t rank = racks; rank < n; ++rank) {
      options.rack_of_rank[rank] = static_cast<std::uint32_t>(random() % racks);
    }
    std::shuffle(options.rack_of_rank.begin(), options.rack_of_rank.end(), random);
    expect_two_phases(options);
  }
}

TEST(Hybrid, OfOneRackOrOfLoneRanksIsThePipeline) {
  for (const std::uint32_t racks : {1u, 13u}) {
    MulticastOptions options = options_of(13, 5);
    options.rack_of_rank = contiguous_racks(13, racks);
    EXPECT_EQ(hybrid(options).transfers, binomial_pipeline(options).transfers);
  }
}

TEST(Hybrid, RefusesRacksThatDoNotFit) {
  MulticastOptions options = options_of(4, 1);
  options.rack_of_rank = {0, 1, 0};
  EXPECT_THROW(hybrid(options), InputError);
  options.rack_of_rank = {0, 2, 0, 2};
  EXPECT_THROW(hybrid(options), InputError);
  options.rack_of_rank = {0, 4'000'000'000, 0, 1};
  EXPECT_THROW(hybrid(options), InputError);
}

TEST(Racks, AreEvenRunsByDefault) {
  EXPECT_EQ(contiguous_racks(7, 3), (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 2, 2}));
  for (std::uint32_t n = 1; n <= 1000; ++n) {
    const std::uint32_t racks = default_rack_count(n);
    EXPECT_EQ(racks, static_cast<std::uint32_t>(std::ceil(std::sqrt(n))));
    for (const std::uint32_t count : {1u, racks, n}) {
      EXPECT_NO_THROW(check_racks(contiguous_racks(n, count), n, "racks"));
      EXPECT_EQ(contiguous_racks(n, count).back(), count - 1);
    }
  }
}

}  // namespace
}  // namespace slackline::sched
