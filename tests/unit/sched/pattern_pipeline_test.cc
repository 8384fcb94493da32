// The binomial pipeline against its published characterisation.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "sched/pattern/binomial_pipeline.h"
#include "tests/support/sanitized.h"
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
  for (std::uint32_t n = 2; n <= testing::cases(1000u); ++n) {
    for (const std::uint32_t k : {1u, 2u, 5u, 24u}) {
      const Plan plan = binomial_pipeline(options_of(n, k));
      ASSERT_EQ(broken_promise(plan), "") << "n=" << n << " k=" << k;
      ASSERT_EQ(plan.steps, k - 1 + ceil_log2(n)) << "n=" << n << " k=" << k;
    }
  }
}

TEST(BinomialPipeline, LastReceiptsSpreadOverTwoStepsAtMost) {
  for (std::uint32_t n = 2; n <= testing::cases(1000u); ++n) {
    const bool power_of_two = (n & (n - 1)) == 0;
    for (const std::uint32_t k : {2u, 3u, 2 * ceil_log2(n)}) {
      const auto [low, high] = last_receipts(binomial_pipeline(options_of(n, std::max(k, 2u))));
      ASSERT_LE(high - low, power_of_two ? 0u : 1u) << "n=" << n << " k=" << k;
    }
  }
}

// The ranks that hold it at most double in a step.
TEST(BinomialPipeline, ReceiptsOfASingleBlockSpreadOverAllSteps) {
  for (std::uint32_t n = 2; n <= testing::cases(1000u); ++n) {
    const auto [low, high] = last_receipts(binomial_pipeline(options_of(n, 1)));
    ASSERT_EQ(low, 0u) << n;
    ASSERT_EQ(high, ceil_log2(n) - 1) << n;
  }
}

// RDMC's rule for any group, from what members hold. At step j the vertices exchange along
// dimension j mod l, each the highest block that one of its members has, the root block min(j, k −
// 1). Of two twins one is the step's receiver, the lower one first; they change after each step
// whose dimension the vertex has in its number. It takes what comes and gives its twin what only it
// has; the twin sends. The last step is for blocks that one twin lacks: from the other, or, if
// there is but one block, from the neighbour along dimension 0.
std::vector<Transfer> as_generated_by_rdmc(std::uint32_t n, std::uint32_t k) {
  const auto l = static_cast<std::uint32_t>(std::bit_width(n)) - 1;
  const std::uint32_t vertices = 1u << l;
  using Members = std::vector<std::uint32_t>;
  const auto members = [&](std::uint32_t vertex) {
    const std::uint32_t twin = vertex + vertices - 1;
    return vertex == 0 || twin >= n ? Members{vertex} : Members{vertex, twin};
  };
  std::vector<std::set<std::uint32_t>> held(n);
  for (std::uint32_t block = 0; block < k; ++block) held[0].insert(block);
  std::vector<std::uint32_t> turns(vertices, 0);
  const auto receiver = [&](std::uint32_t v) { return members(v)[turns[v] % members(v).size()]; };
  const auto sender = [&](std::uint32_t v) {
    return members(v)[(turns[v] + 1) % members(v).size()];
  };
  std::vector<Transfer> transfers;
  for (std::uint32_t step = 0; step < k - 1 + ceil_log2(n); ++step) {
    const std::size_t first = transfers.size();
    const std::uint32_t dimension = 1u << step % l;
    const bool last = n != vertices && step + 1 == k - 1 + ceil_log2(n);
    for (std::uint32_t vertex = 0; vertex < vertices && !last; ++vertex) {
      const std::uint32_t neighbour = vertex ^ dimension;
      std::set<std::uint32_t> blocks;
      for (const std::uint32_t m : members(vertex)) blocks.insert(held[m].begin(), held[m].end());
      if (neighbour == 0 || blocks.empty()) continue;
      const std::uint32_t block = vertex == 0 ? std::min(step, k - 1) : *blocks.rbegin();
      transfers.push_back({step, RankId(sender(vertex)), RankId(receiver(neighbour)), block});
    }
    for (std::uint32_t vertex = 1; members(vertex % vertices).size() == 2; ++vertex) {
      const std::uint32_t a = receiver(vertex);
      const std::uint32_t b = sender(vertex);
      if (last && k == 1) {
        for (const std::uint32_t m : members(vertex ^ 1u)) {
          if (held[m].empty()) continue;
          transfers.push_back({step, RankId(m), RankId(held[a].empty() ? a : b), 0});
        }
        continue;
      }
      for (std::uint32_t block = 0; block < k; ++block) {
        const bool only_a = held[a].contains(block) && !held[b].contains(block);
        const bool only_b = held[b].contains(block) && !held[a].contains(block);
        if (only_a) transfers.push_back({step, RankId(a), RankId(b), block});
        if (only_b && last) transfers.push_back({step, RankId(b), RankId(a), block});
      }
    }
    for (std::size_t i = first; i < transfers.size(); ++i) {
      held[transfers[i].dst.value].insert(transfers[i].block);
    }
    std::sort(transfers.begin() + static_cast<std::ptrdiff_t>(first), transfers.end());
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
      turns[vertex] += (vertex & dimension) != 0 ? 1 : 0;
    }
  }
  return transfers;
}

TEST(BinomialPipeline, IsAsGeneratedByRdmcForEveryGroupSize) {
  for (std::uint32_t n = 2; n <= 64; ++n) {
    for (std::uint32_t k = 1; k <= 8; ++k) {
      ASSERT_EQ(binomial_pipeline(options_of(n, k)).transfers, as_generated_by_rdmc(n, k))
          << "n=" << n << " k=" << k;
    }
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
