// The algorithms of collectives that no multicast makes: proved for all small numbers of ranks,
// with the steps and bytes that the literature says, and broken by every single defect of a plan.
#include "sched/pattern/collective_algorithms.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sched/compile.h"
#include "sched/pass/lower_collective.h"
#include "sched/pattern/alltoall.h"
#include "sched/pattern/binomial_shares.h"
#include "sched/pattern/bruck.h"
#include "sched/pattern/bruck_allreduce.h"
#include "sched/pattern/halving_doubling.h"
#include "sched/pattern/hierarchical.h"
#include "sched/pattern/pattern.h"
#include "sched/pattern/ring.h"
#include "sched/verify.h"
#include "tests/support/collective_specs.h"
#include "tests/support/error_of.h"

namespace slackline::testing {
namespace {

using namespace slackline::sched;  // NOLINT: tests speak of little else

struct Algorithm {
  const char* spec;  // without ranks and bytes
  CollectivePlan (*plan)(const MulticastOptions&);
};

constexpr Algorithm kAlgorithms[] = {
    {"allreduce:by=ring", ring_allreduce},
    {"allreduce:by=recursive-doubling", recursive_doubling_allreduce},
    {"allreduce:by=rabenseifner", rabenseifner_allreduce},
    {"allreduce:by=bruck", bruck_allreduce},
    {"allreduce:by=hierarchical", hierarchical_allreduce},
    {"reduce-scatter:by=ring", ring_reduce_scatter},
    {"reduce-scatter:by=recursive-halving", recursive_halving_reduce_scatter},
    {"reduce-scatter:by=hierarchical", hierarchical_reduce_scatter},
    {"allgather:by=ring", ring_allgather},
    {"allgather:by=recursive-doubling", recursive_doubling_allgather},
    {"allgather:by=bruck", bruck_allgather},
    {"allgather:by=hierarchical", hierarchical_allgather},
    {"scatter:root=0", binomial_scatter},
    {"gather:root=0", binomial_gather},
    {"alltoall:by=pairwise", pairwise_alltoall},
    {"alltoall:by=bruck", bruck_alltoall},
    {"alltoall:by=hierarchical", hierarchical_alltoall},
};

std::string defect(const std::string& text) {
  const Diagnostics found = verify(compile(parse_spec(text)));
  return found.empty() ? "" : fmt::format("{}: {}", text, found.front().message);
}

MulticastOptions options_of(std::uint32_t n, std::uint64_t bytes, std::uint64_t block = 1u << 20,
                            std::uint32_t root = 0) {
  MulticastOptions options;
  options.ranks = n;
  options.bytes = bytes;
  options.block_bytes = block;
  options.root = RankId(root);
  return options;
}

class CollectiveAlgorithmTest : public ::testing::TestWithParam<Algorithm> {
 protected:
  static std::string spec(const std::string& options) {
    return fmt::format("{},{}", GetParam().spec, options);
  }
  static bool is_sum() { return std::string(GetParam().spec).find("reduce") != std::string::npos; }
  static bool has_root() { return std::string(GetParam().spec).ends_with("root=0"); }
};

// Sizes that are no multiple of the ranks, with shares of no byte, of one block and of several.
TEST_P(CollectiveAlgorithmTest, IsProvedForEveryNumberOfRanks) {
  for (std::uint32_t n = 1; n <= 70; ++n) {
    // Of what is summed the ranks have shares; else it is their share.
    const std::uint32_t shares = is_sum() ? n : 4;
    for (const std::uint32_t bytes : {0u, 1u, shares - 1, 3 * shares + shares / 2 + 1}) {
      ASSERT_EQ(defect(spec(fmt::format("ranks={},bytes={},block=7", n, bytes))), "");
    }
  }
  for (const std::uint32_t n : {2u, 5u, 8u, 13u}) {
    for (const std::uint32_t bytes : {n + 1, 20 * n + 3}) {
      ASSERT_EQ(defect(spec(fmt::format("ranks={},bytes={},block=3", n, bytes))), "");
    }
  }
}

TEST_P(CollectiveAlgorithmTest, IsProvedHoweverItIsLowered) {
  const PatternEntry& pattern = pattern_named(parse_spec(spec("ranks=2,bytes=1")).pattern);
  for (const std::uint32_t n : {4u, 7u, 12u}) {
    for (const char* ready : {"send", "write", "none"}) {
      for (const std::uint32_t window : {1u, 3u}) {
        for (const std::uint32_t in_flight : {0u, 1u, 2u}) {
          std::string options =
              fmt::format("ranks={},bytes={},block=4,ready={},window={},in-flight={},messages={}",
                          n, 5 * n + 1, ready, window, in_flight, 1 + window / 2);
          if (pattern.find_option("slots") != nullptr) options += fmt::format(",slots={}", window);
          if (pattern.find_option("start") != nullptr && window == 3) options += ",start=all";
          ASSERT_EQ(defect(spec(options)), "");
        }
      }
    }
  }
}

TEST_P(CollectiveAlgorithmTest, RoundTripsAndSaysNoFewerOperationsThanItMakes) {
  for (const std::uint32_t n : {1u, 2u, 3u, 8u, 21u, 64u}) {
    for (const char* size : {"bytes=0", "bytes=100", "bytes=100,block=3"}) {
      for (const char* rest : {"", ",ready=none", ",messages=3"}) {
        const Spec parsed = parse_spec(spec(fmt::format("ranks={},{}{}", n, size, rest)));
        const Schedule schedule = compile(parsed);
        EXPECT_EQ(format_spec(parse_spec(schedule.title())), schedule.title());
        EXPECT_GE(most_ops(parsed), schedule.op_count()) << schedule.title();
      }
    }
  }
}

// What a plan's messages carry, and how many there are by rank and step.
struct Traffic {
  explicit Traffic(const CollectivePlan& plan)
      : sent(plan.ranks), messages(plan.ranks), steps(plan.steps) {
    std::vector<std::vector<std::uint32_t>> in_step(plan.ranks,
                                                    std::vector<std::uint32_t>(plan.steps));
    for (const CollectivePlan::Message& m : plan.messages) {
      if (m.src == m.dst) continue;
      EXPECT_LE(++in_step[m.src.value][m.step], 1u) << m.src.value << " in step " << m.step;
      ++messages[m.src.value];
      for (std::uint32_t p = m.first_piece; p < m.first_piece + m.pieces; ++p) {
        const CollectivePlan::Piece& piece = plan.pieces[p];
        sent[m.src.value] += plan.begin[piece.first + piece.count] - plan.begin[piece.first];
      }
    }
  }
  std::uint64_t all() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : sent) sum += bytes;
    return sum;
  }
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> messages;
  std::uint32_t steps;
};

// Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH,
// 2005: the number of messages that follow one another, and the bytes that each rank sends.
TEST(CollectiveAlgorithmCosts, AreThoseOfTheLiterature) {
  using ::testing::Each;
  for (std::uint32_t n = 1; n <= 70; ++n) {
    const std::uint64_t share = 10;
    const std::uint64_t all = n * share;
    const std::uint32_t down = floor_log2(n);
    const std::uint32_t up = ceil_log2(n);
    SCOPED_TRACE(n);

    const Traffic ring(ring_allreduce(options_of(n, all)));
    EXPECT_EQ(ring.steps, 2 * (n - 1));
    EXPECT_THAT(ring.sent, Each(2 * (n - 1) * share));
    const Traffic ring_half(ring_reduce_scatter(options_of(n, all)));
    EXPECT_EQ(ring_half.steps, n - 1);
    EXPECT_THAT(ring_half.sent, Each((n - 1) * share));
    const Traffic ring_gather(ring_allgather(options_of(n, share)));
    EXPECT_EQ(ring_gather.steps, n - 1);
    EXPECT_THAT(ring_gather.sent, Each((n - 1) * share));
    const Traffic bruck(bruck_allgather(options_of(n, share)));
    EXPECT_EQ(bruck.steps, up);
    EXPECT_THAT(bruck.sent, Each((n - 1) * share));
    // Bruck and Ho, Efficient Global Combine Operations in Multi-Port Message-Passing Systems,
    // 1993: no sum has more than twice the terms a step before.
    const Traffic bruck_sum(bruck_allreduce(options_of(n, share)));
    EXPECT_EQ(bruck_sum.steps, up);
    EXPECT_THAT(bruck_sum.messages, Each(up));
    EXPECT_THAT(bruck_sum.sent, Each(up * share));
    const Traffic pairwise(pairwise_alltoall(options_of(n, share)));
    EXPECT_EQ(pairwise.steps, n - 1);
    EXPECT_THAT(pairwise.sent, Each((n - 1) * share));
    const Traffic bruck_exchange(bruck_alltoall(options_of(n, share)));
    EXPECT_EQ(bruck_exchange.steps, up);
    EXPECT_THAT(bruck_exchange.messages, Each(up));
    // In the step of a bit what still has that bit of its distance goes: by all distances, their
    // ones.
    std::uint64_t ones = 0;
    for (std::uint32_t distance = 1; distance < n; ++distance) ones += std::popcount(distance);
    EXPECT_THAT(bruck_exchange.sent, Each(ones * share));

    // The shares of all subtrees but the root's, by the edge above them.
    const CollectivePlan scattered = binomial_scatter(options_of(n, share));
    const Traffic scatter(scattered);
    EXPECT_EQ(scatter.steps, up);
    EXPECT_EQ(scatter.sent[0], (n - 1) * share);
    EXPECT_EQ(scattered.messages.size(), n - 1);
    const Traffic gather(binomial_gather(options_of(n, share)));
    EXPECT_EQ(gather.steps, up);
    EXPECT_EQ(gather.all(), scatter.all());

    const std::uint64_t p = std::bit_floor(n);
    const std::uint64_t folded = n - p;
    const std::uint32_t extra = folded != 0 ? 1 : 0;
    const std::uint64_t bytes = 10 * p;
    const Traffic doubling(recursive_doubling_allreduce(options_of(n, bytes)));
    EXPECT_EQ(doubling.steps, down + 2 * extra);
    EXPECT_EQ(doubling.all(), (p * down + 2 * folded) * bytes);
    const Traffic rabenseifner(rabenseifner_allreduce(options_of(n, bytes)));
    EXPECT_EQ(rabenseifner.steps, 2 * down + 3 * extra);
    // Each in the power of two 2 (p - 1) / p; for each that is folded three halves and a whole.
    EXPECT_EQ(rabenseifner.all(), p * 2 * (p - 1) * 10 + folded * (3 * bytes / 2 + bytes));
    const Traffic halving(recursive_halving_reduce_scatter(options_of(n, all)));
    EXPECT_EQ(halving.steps, down + 2 * extra);
    // Every share is sent p / 2 times, p / 4 times, …; what is folded is sent whole before, and a
    // share of the sum behind.
    EXPECT_EQ(halving.all(), (p - 1) * all + folded * (all + share));
    const Traffic gathering(recursive_doubling_allgather(options_of(n, share)));
    EXPECT_EQ(gathering.steps, down + 2 * extra);
    // No share comes twice to a rank.
    EXPECT_EQ(gathering.all(), (n - 1) * all);
    if (folded != 0) continue;
    EXPECT_THAT(doubling.sent, Each(down * bytes));
    EXPECT_THAT(rabenseifner.sent, Each(2 * (n - 1) * share));
    EXPECT_THAT(halving.sent, Each((n - 1) * share));
    EXPECT_THAT(gathering.sent, Each((n - 1) * share));
  }
}

// Of sizes that ranks do not divide, the shares together are the buffer still.
TEST(CollectiveAlgorithmCosts, AreTheSameForSharesOfUnequalSize) {
  for (std::uint32_t n = 2; n <= 70; ++n) {
    for (const std::uint64_t bytes : {1u, 69u, 701u}) {
      EXPECT_EQ(Traffic(ring_allreduce(options_of(n, bytes))).all(), 2 * (n - 1) * bytes);
    }
  }
}

// What leaves its node, and what does not, of every rank; of nodes of all sizes.
TEST(CollectiveAlgorithmCosts, OfNodesAreAsStated) {
  using ::testing::Each;
  for (std::uint32_t n = 1; n <= 70; ++n) {
    for (std::uint32_t k = 1; k <= n; ++k) {
      if (n % k != 0) continue;
      SCOPED_TRACE(fmt::format("{} nodes of {}", n / k, k));
      const std::uint64_t share = 10;
      const std::uint32_t nodes = n / k;
      const auto options = [&](std::uint64_t bytes) {
        MulticastOptions all = options_of(n, bytes);
        all.own.edit<NodeOptions>().per_node = k;
        return all;
      };
      const auto expect = [&](const CollectivePlan& plan, std::uint32_t steps, std::uint64_t within,
                              std::uint64_t among) {
        EXPECT_EQ(plan.steps, steps);
        std::vector<std::uint64_t> inside(n);
        std::vector<std::uint64_t> outside(n);
        for (const CollectivePlan::Message& m : plan.messages) {
          if (m.src == m.dst) continue;
          EXPECT_LT(m.step, steps);
          auto& sent = m.src.value / k == m.dst.value / k ? inside : outside;
          for (std::uint32_t p = m.first_piece; p < m.first_piece + m.pieces; ++p) {
            const CollectivePlan::Piece& piece = plan.pieces[p];
            sent[m.src.value] += plan.begin[piece.first + piece.count] - plan.begin[piece.first];
          }
        }
        EXPECT_THAT(inside, Each(within));
        EXPECT_THAT(outside, Each(among));
      };
      const std::uint32_t one_way = k - 1 + nodes - 1;
      expect(hierarchical_allreduce(options(n * share)), 2 * one_way, 2 * (k - 1) * nodes * share,
             2 * (nodes - 1) * share);
      expect(hierarchical_reduce_scatter(options(n * share)), one_way, (k - 1) * nodes * share,
             (nodes - 1) * share);
      expect(hierarchical_allgather(options(share)), one_way, (k - 1) * nodes * share,
             (nodes - 1) * share);
      expect(hierarchical_alltoall(options(share)), one_way, (k - 1) * nodes * share,
             (nodes - 1) * k * share);
    }
  }
}

TEST(CollectiveAlgorithmCosts, StepsAreThoseOfTheSchedule) {
  EXPECT_EQ(compile(parse_spec("allreduce:ranks=9,bytes=50,by=ring")).step_count(), 16u);
  EXPECT_EQ(compile(parse_spec("allreduce:ranks=9,bytes=50,by=rabenseifner")).step_count(), 9u);
  EXPECT_EQ(compile(parse_spec("allreduce:ranks=9,bytes=50,by=bruck")).step_count(), 4u);
  EXPECT_EQ(compile(parse_spec("alltoall:ranks=9,bytes=50,by=bruck")).step_count(), 4u);
  EXPECT_EQ(compile(parse_spec("barrier:ranks=8,by=recursive-doubling")).step_count(), 3u);
}

TEST(CollectiveAlgorithmSpec, NodesAreProvedOfAllSizes) {
  for (const char* pattern : {"allreduce", "reduce-scatter", "allgather", "alltoall"}) {
    for (const std::uint32_t k : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 24u}) {
      for (const std::uint32_t bytes : {0u, 5u, 101u}) {
        ASSERT_EQ(defect(fmt::format("{}:ranks=24,bytes={},block=3,by=hierarchical,per-node={}",
                                     pattern, bytes, k)),
                  "");
      }
    }
  }
}

// What the tests of transports carry out leaves out no collective and no algorithm.
TEST(CollectiveSpecs, HaveEveryAlgorithm) {
  std::set<std::string> have;
  for (const char* text : kCollectiveSpecs) {
    const std::string spec(text);
    const std::string pattern = spec.substr(0, spec.find(':'));
    have.insert(pattern);
    if (const std::size_t by = spec.find(",by="); by != std::string::npos) {
      const std::size_t end = std::min(spec.find(',', by + 1), spec.size());
      have.insert(pattern + " " + spec.substr(by + 4, end - by - 4));
    }
    EXPECT_EQ(defect(spec), "");
  }
  const std::pair<const char*, CollectiveAlgorithms> all[] = {
      {"allreduce", allreduce_algorithms()},
      {"allgather", allgather_algorithms()},
      {"reduce-scatter", reduce_scatter_algorithms()},
      {"alltoall", alltoall_algorithms()}};
  for (const auto& [pattern, algorithms] : all) {
    for (const CollectiveAlgorithm& algorithm : algorithms) {
      EXPECT_TRUE(have.contains(fmt::format("{} {}", pattern, algorithm.name)))
          << pattern << " by " << algorithm.name;
    }
  }
  for (const char* pattern : {"reduce", "scatter", "gather", "alltoallv", "scatterv", "gatherv",
                              "barrier", "switch-allreduce", "switch-reduce"}) {
    EXPECT_TRUE(have.contains(pattern)) << pattern;
  }
}

TEST(CollectiveAlgorithmMemory, IsAsStated) {
  EXPECT_EQ(ring_allreduce(options_of(6, 60)).bytes(), 60u);
  EXPECT_EQ(binomial_gather(options_of(6, 10)).bytes(), 60u);
  EXPECT_EQ(pairwise_alltoall(options_of(7, 10)).bytes(), 140u);
  EXPECT_EQ(bruck_alltoall(options_of(7, 10)).bytes(), 140u + 60u);
  EXPECT_EQ(bruck_alltoall(options_of(7, 10)).message_bytes, 70u);
}

// A message that is lost, or carries another unit or to another place, is seen in the contract.
TEST_P(CollectiveAlgorithmTest, EveryLostOrWrongMessageIsFound) {
  for (const std::uint32_t n : {2u, 3u, 7u, 8u}) {
    // Units of one size.
    const std::uint64_t bytes = is_sum() ? 4 * std::lcm(n, std::bit_floor(n)) : 8;
    const CollectivePlan sound = GetParam().plan(options_of(n, bytes, 4, has_root() ? n - 1 : 0));
    ASSERT_TRUE(verify(lower_collective(sound)).empty());
    ASSERT_FALSE(sound.messages.empty());
    for (std::size_t m = 0; m < sound.messages.size(); ++m) {
      CollectivePlan lost = sound;
      lost.messages.erase(lost.messages.begin() + static_cast<std::ptrdiff_t>(m));
      EXPECT_FALSE(verify(lower_collective(lost)).empty()) << n << ": without message " << m;
      CollectivePlan wrong = sound;
      CollectivePlan::Piece& piece = wrong.pieces[wrong.messages[m].first_piece];
      const bool is_first = piece.first == 0;
      if (is_first && piece.count == wrong.units()) continue;  // all there is
      if (piece.first + piece.count < wrong.units()) {
        ++piece.first;
      } else {
        --piece.first;
      }
      EXPECT_FALSE(verify(lower_collective(wrong)).empty()) << n << ": wrong unit in message " << m;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(By, CollectiveAlgorithmTest, ::testing::ValuesIn(kAlgorithms),
                         [](const auto& named) {
                           std::string name = named.param.spec;
                           for (char& c : name) {
                             if (c == '-' || c == ':' || c == '=') c = '_';
                           }
                           return name;
                         });

TEST(CollectiveAlgorithmSpec, SaysWhatIsWrongInOneLine) {
  const auto spec_error = [](const std::string& text) {
    return error_of([&] { compile(parse_spec(text)); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(spec_error("allreduce:ranks=4,bytes=8,by=rings"), HasSubstr("by: unknown pattern"));
  EXPECT_THAT(spec_error("allreduce:ranks=4,bytes=8,by=rings"), HasSubstr("ring"));
  EXPECT_THAT(spec_error("reduce:ranks=4,bytes=8,by=ring"),
              HasSubstr("by: unknown pattern 'ring'"));
  EXPECT_THAT(spec_error("allreduce:ranks=4,bytes=8,by=pairwise"),
              HasSubstr("by: unknown pattern"));
  EXPECT_THAT(spec_error("allgather:ranks=4,bytes=8,by=rabenseifner"),
              HasSubstr("by: unknown pattern"));
  EXPECT_EQ(spec_error("allreduce:ranks=4,bytes=8,root=1,by=ring"),
            "root: 1; expected none, as by=ring has no root");
  EXPECT_THAT(spec_error("reduce-scatter:ranks=4,bytes=8,by=chain"),
              HasSubstr("by: unknown algorithm 'chain'"));
  EXPECT_THAT(spec_error("alltoall:ranks=4,bytes=8,by=ring"),
              HasSubstr("by: unknown algorithm 'ring'"));
  EXPECT_THAT(spec_error("alltoall:ranks=4,bytes=8,root=1"), HasSubstr("root: not an option of"));
  EXPECT_THAT(spec_error("scatter:ranks=4,bytes=8,by=ring"), HasSubstr("by: not an option of"));
  EXPECT_THAT(spec_error("gather:ranks=4,bytes=8,root=4"), HasSubstr("root: "));
  EXPECT_THAT(spec_error("alltoall:ranks=16777216,bytes=8,by=bruck"), HasSubstr("operations"));
  EXPECT_THAT(spec_error("allgather:ranks=16777216,bytes=1024GiB,block=512"),
              HasSubstr("operations"));
  EXPECT_THAT(
      spec_error("allgather:ranks=8,bytes=2305843009213693952,block=2305843009213693952,by=bruck"),
      HasSubstr("at most 2^62 together"));
  EXPECT_EQ(spec_error("allreduce:ranks=11,bytes=2147483648GiB,block=2147483648GiB,by=bruck"),
            "bytes: 2305843009213693952, of which a rank's buffer has room for 4; expected at most "
            "2^62 together");
  EXPECT_EQ(spec_error("alltoall:ranks=9,bytes=8,by=hierarchical,per-node=2"),
            "per-node: 2 ranks a node; expected a divisor of 9 ranks");
  EXPECT_EQ(spec_error("allreduce:ranks=4,bytes=8,by=ring,per-node=2"),
            "per-node: 2; expected none, as by=ring knows no nodes");
  EXPECT_THAT(spec_error("allgather:ranks=4,bytes=8,by=hierarchical,per-node=0"),
              HasSubstr("per-node: "));
  for (const char* text : {"allreduce:ranks=4,bytes=8,by=x", "alltoall:ranks=4,bytes=8,by=x"}) {
    EXPECT_EQ(spec_error(text).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace slackline::testing
