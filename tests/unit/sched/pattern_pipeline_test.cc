// The binomial pipeline against its published characterisation.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sched/pattern/binomial_pipeline.h"
#include "tests/unit/sched/pattern_checker.h"

namespace slackline::sched {
namespace {

// At each step every node exchanges a block with its neighbour along the step's dimension, unless
// it has none or the neighbour is the sender. The sender sends block j in step j, later the last
// one; other nodes send the highest numbered block they have received before.
std::vector<Transfer> as_characterised(std::uint32_t dimensions, std::uint32_t blocks) {
  const std::uint32_t nodes = 1u << dimensions;
  std::vector<std::set<std::uint32_t>> received(nodes);
  std::vector<Transfer> transfers;
  for (std::uint32_t step = 0; step < dimensions + blocks - 1; ++step) {
    const std::size_t first = transfers.size();
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const std::uint32_t neighbour = node ^ (1u << step % dimensions);
      if (neighbour == 0) continue;
      if (node == 0) {
        transfers.push_back({step, RankId(node), RankId(neighbour), std::min(step, blocks - 1)});
      } else if (!received[node].empty()) {
        transfers.push_back({step, RankId(node), RankId(neighbour), *received[node].rbegin()});
      }
    }
    for (std::size_t i = first; i < transfers.size(); ++i) {
      received[transfers[i].dst.value].insert(transfers[i].block);
    }
  }
  return transfers;
}

TEST(BinomialPipeline, IsAsCharacterisedForPowersOfTwo) {
  for (std::uint32_t dimensions = 1; dimensions <= 8; ++dimensions) {
    for (std::uint32_t blocks = 1; blocks <= 40; ++blocks) {
      const Plan plan = binomial_pipeline(options_of(1u << dimensions, blocks));
      ASSERT_EQ(plan.transfers, as_characterised(dimensions, blocks))
          << "l=" << dimensions << " k=" << blocks;
    }
  }
}

TEST(BinomialPipeline, TakesFiveStepsForEightRanksAndThreeBlocks) {
  EXPECT_EQ(binomial_pipeline(options_of(8, 3)).steps, 5u);
}

// First and last step in which a rank other than the root receives its last block.
std::pair<std::uint32_t, std::uint32_t> last_receipts(const Plan& plan) {
  std::vector<std::uint32_t> last(plan.ranks, 0);
  for (const Transfer& transfer : plan.transfers) last[transfer.dst.value] = transfer.step;
  const auto [low, high] = std::minmax_element(last.begin() + 1, last.end());
  return {*low, *high};
}

TEST(BinomialPipeline, EndsInTheSameNumberOfStepsForEveryGroupSize) {
  for (std::uint32_t n = 2; n <= 1000; ++n) {
    for (const std::uint32_t k : {1u, 2u, 5u, 24u}) {
      const Plan plan = binomial_pipeline(options_of(n, k));
      ASSERT_EQ(broken_promise(plan), "") << "n=" << n << " k=" << k;
      ASSERT_EQ(plan.steps, k - 1 + ceil_log2(n)) << "n=" << n << " k=" << k;
    }
  }
}

// With fewer blocks than dimensions, leaves of the tree are done early.
TEST(BinomialPipeline, LastReceiptsSpreadOverTwoStepsAtMost) {
  for (std::uint32_t n = 2; n <= 1000; ++n) {
    const std::uint32_t k = 2 * ceil_log2(n);
    const auto [low, high] = last_receipts(binomial_pipeline(options_of(n, k)));
    const bool power_of_two = (n & (n - 1)) == 0;
    ASSERT_LE(high - low, power_of_two ? 0u : 1u) << "n=" << n << " k=" << k;
  }
}

// The average slack of a steady step: 2 (1 − (l − 1)/(n − 2)), the root left out.
TEST(BinomialPipeline, HasThePublishedSlack) {
  for (std::uint32_t l = 2; l <= 8; ++l) {
    const std::uint32_t n = 1u << l;
    const std::uint32_t k = 4 * l;
    const Plan plan = binomial_pipeline(options_of(n, k));
    std::vector<std::uint32_t> arrival(std::size_t{n} * k, 0);
    std::vector<std::uint32_t> slack(plan.steps, 0);
    std::vector<std::uint32_t> senders(plan.steps, 0);
    for (const Transfer& t : plan.transfers) {
      arrival[std::size_t{t.dst.value} * k + t.block] = t.step;
      if (t.src == RankId(0)) continue;
      slack[t.step] += t.step - arrival[std::size_t{t.src.value} * k + t.block];
      ++senders[t.step];
    }
    for (std::uint32_t step = l; step < k; ++step) {
      EXPECT_EQ(senders[step], n - 2);
      EXPECT_EQ(slack[step], 2 * (n - 2) - 2 * (l - 1)) << "l=" << l << " step=" << step;
    }
  }
}

}  // namespace
}  // namespace slackline::sched
