#include "sched/pattern/step_source.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sched/pattern/pattern.h"

namespace slackline::sched {
namespace {

MulticastOptions options_of(std::uint32_t ranks, std::uint32_t blocks, std::uint32_t root) {
  MulticastOptions options;
  options.ranks = ranks;
  options.bytes = blocks;
  options.block_bytes = 1;
  options.root = RankId(root);
  return options;
}

// What a source promises beside its transfers, held against them.
void expect_promises_kept(StepSource& source, std::uint32_t ranks) {
  std::map<std::pair<RankId, std::uint32_t>, RankId> target;
  std::map<std::pair<RankId, RankId>, std::uint32_t> number;
  std::vector<std::uint32_t> received(ranks, 0);
  std::vector<std::uint32_t> latest(ranks, 0);
  std::vector<Hop> hops;
  std::vector<Hop> marks;
  std::uint32_t taken = 0;
  for (std::uint32_t step = 0; source.next(hops); ++step) {
    ++taken;
    marks.insert(marks.end(), hops.begin(), hops.end());
    std::set<RankId> sends;
    std::set<RankId> receives;
    for (const Hop& hop : hops) {
      EXPECT_TRUE(sends.insert(hop.src).second && receives.insert(hop.dst).second);
      EXPECT_LT(hop.channel, source.channels());
      EXPECT_EQ(target.try_emplace({hop.src, hop.channel}, hop.dst).first->second, hop.dst);
      const auto [at, first] = number.try_emplace({hop.src, hop.dst}, hop.channel);
      EXPECT_EQ(at->second, hop.channel);
      if (first) {
        EXPECT_LT(step, source.first_uses_before());
      }
      if (received[hop.src.value] != 0) {
        EXPECT_LT(latest[hop.src.value], hop.block + source.blocks_kept());
      }
    }
    for (const Hop& hop : hops) {
      ++received[hop.dst.value];
      latest[hop.dst.value] = std::max(latest[hop.dst.value], hop.block);
    }
  }
  EXPECT_FALSE(source.next(hops));
  EXPECT_EQ(taken, source.steps());
  std::map<std::pair<RankId, std::uint32_t>, std::uint32_t> later;
  std::reverse(marks.begin(), marks.end());
  for (const Hop& hop : marks) {
    EXPECT_EQ(hop.later, std::min(later[{hop.src, hop.channel}]++, 2u));
  }
  for (std::uint32_t r = 0; r < ranks; ++r) EXPECT_EQ(received[r], source.receives_of(RankId(r)));
}

std::vector<Transfer> transfers_of(StepSource& source) {
  std::vector<Transfer> all;
  std::vector<Hop> hops;
  for (std::uint32_t step = 0; source.next(hops); ++step) {
    for (const Hop& hop : hops) all.push_back({step, hop.src, hop.dst, hop.block});
  }
  return all;
}

TEST(StepSource, KeepsItsPromisesForAllSmallSizes) {
  for (const PatternEntry& pattern : plan_patterns()) {
    for (std::uint32_t n = 1; n <= 40; ++n) {
      for (const std::uint32_t k : {1, 2, 3, 7, 8, 30}) {
        SCOPED_TRACE(fmt::format("{}, {} ranks, {} blocks", pattern.name, n, k));
        const MulticastOptions options = options_of(n, k, (7 * n + k) % n);
        const auto source = steps_of(pattern, options);
        expect_promises_kept(*source, n);
        source->restart();
        EXPECT_EQ(transfers_of(*source), pattern.plan(options).transfers);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
}

TEST(StepSource, OfThePipelineKeepsItsPromisesForManyBlocks) {
  const PatternEntry& pattern = *find_pattern("binomial-pipeline");
  for (const std::uint32_t n : {2, 3, 31, 32, 33, 63, 64, 100, 127, 129, 200}) {
    SCOPED_TRACE(fmt::format("{} ranks", n));
    const auto source = steps_of(pattern, options_of(n, 100, n / 2));
    expect_promises_kept(*source, n);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

}  // namespace
}  // namespace slackline::sched
