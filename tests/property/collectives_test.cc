// Reduce, allreduce, allgather and barrier: proved for all small sizes, as many steps as their
// formulas say, and broken by every single defect that takes a term or doubles one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "sched/compile.h"
#include "sched/pattern/collective.h"
#include "sched/verify.h"
#include "sched/verify/order.h"
#include "tests/support/draft.h"
#include "tests/support/error_of.h"

namespace slackline::testing {
namespace {

std::vector<std::string> bases() {
  std::vector<std::string> result;
  for (const PatternEntry& entry : plan_patterns()) {
    if (entry.find_option("racks") == nullptr) result.emplace_back(entry.name);
  }
  return result;
}

std::string defect(const std::string& text) {
  const Diagnostics found = verify(compile(parse_spec(text)));
  return found.empty() ? "" : fmt::format("{}: {}", text, found.front().message);
}

class Collectives : public ::testing::TestWithParam<std::string> {};

TEST_P(Collectives, AreProvedForAllSmallSizes) {
  for (std::uint32_t n = 1; n <= 16; ++n) {
    for (const char* name : {"reduce", "allreduce", "allgather"}) {
      for (std::uint32_t k = 1; k <= 8; ++k) {
        const std::uint32_t bytes = 8 * k - (n + k) % 8;
        const std::string root =
            std::string(name) == "allgather" ? "" : fmt::format(",root={}", (n + k) % n);
        ASSERT_EQ(defect(fmt::format("{}:ranks={},bytes={},block=8,by={}{}", name, n, bytes,
                                     GetParam(), root)),
                  "");
      }
    }
    ASSERT_EQ(defect(fmt::format("barrier:ranks={},by={}", n, GetParam())), "");
  }
}

TEST_P(Collectives, AreProvedForEveryNumberOfRanks) {
  for (std::uint32_t n = 17; n <= 70; ++n) {
    const std::uint32_t bytes = 8 * (1 + n % 4) - n % 7;
    for (const char* name : {"reduce", "allreduce"}) {
      ASSERT_EQ(defect(fmt::format("{}:ranks={},bytes={},block=8,by={},root={}", name, n, bytes,
                                   GetParam(), n / 3)),
                "");
    }
    ASSERT_EQ(
        defect(fmt::format("allgather:ranks={},bytes={},block=8,by={}", n, 1 + n % 12, GetParam())),
        "");
    ASSERT_EQ(defect(fmt::format("barrier:ranks={},by={}", n, GetParam())), "");
  }
}

TEST_P(Collectives, AreProvedHoweverTheyAreLowered) {
  std::mt19937 random(5);
  for (const char* ready : {"send", "write", "none"}) {
    for (const char* start : {"pairwise", "all"}) {
      for (const std::uint32_t window : {1u, 2u, 3u}) {
        for (const std::uint32_t in_flight : {0u, 1u, 3u}) {
          const auto n = static_cast<std::uint32_t>(1 + random() % 24);
          const auto k = static_cast<std::uint32_t>(1 + random() % 12);
          const std::string paced =
              fmt::format("by={},ready={},window={},in-flight={},messages={}", GetParam(), ready,
                          window, in_flight, 1 + random() % 2);
          const std::string common = fmt::format("{},start={}", paced, start);
          const std::string size = fmt::format("bytes={},block=10", 10 * k - random() % 10);
          const auto slots = 1 + random() % 5;
          ASSERT_EQ(defect(fmt::format("reduce:ranks={},{},{},slots={},root={}", n, size, paced,
                                       slots, random() % n)),
                    "");
          ASSERT_EQ(defect(fmt::format("allreduce:ranks={},{},{},slots={}", n, size, paced, slots)),
                    "");
          ASSERT_EQ(defect(fmt::format("allgather:ranks={},{},{}", n, size, common)), "");
          ASSERT_EQ(defect(fmt::format("barrier:ranks={},{}", n, common)), "");
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(By, Collectives, ::testing::ValuesIn(bases()), [](const auto& named) {
  std::string name = named.param;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
});

MulticastOptions options_of(std::uint32_t n, std::uint32_t k, std::uint32_t root = 0) {
  MulticastOptions options;
  options.ranks = n;
  options.bytes = k;
  options.block_bytes = 1;
  options.root = RankId(root);
  return options;
}

// On the circulant: k − 1 + ⌈log2 n⌉ steps, in each of which a rank sends to one rank and receives
// from one.
TEST(CollectiveSteps, AreOptimalOnTheCirculant) {
  for (std::uint32_t n = 2; n <= 70; ++n) {
    for (std::uint32_t k = 1; k <= 20; ++k) {
      const std::uint32_t steps = k - 1 + ceil_log2(n);
      EXPECT_EQ(reduce_plan(options_of(n, k), "circulant").steps, steps);
      EXPECT_EQ(allreduce_plan(options_of(n, k), "circulant").steps, 2 * steps);
      const CollectivePlan gather = allgather_plan(options_of(n, k), "circulant");
      EXPECT_EQ(gather.steps, steps);
      std::vector<RankId> target(std::size_t{n} * steps, RankId::none());
      for (const CollectivePlan::Message& m : gather.messages) {
        RankId& here = target[m.step * n + m.src.value];
        if (here.valid()) {
          EXPECT_EQ(here, m.dst);
        }
        here = m.dst;
      }
    }
    EXPECT_EQ(barrier_plan(options_of(n, 1), "circulant").steps, ceil_log2(n));
    EXPECT_EQ(barrier_plan(options_of(n, 1), "circulant").messages.size(), n * ceil_log2(n));
    EXPECT_EQ(reduce_plan(options_of(n, 3), "chain").steps, n - 1 + 2);
  }
  // One block each: one message per rank and step.
  EXPECT_EQ(allgather_plan(options_of(13, 1), "circulant").messages.size(), 13u * 4);
}

std::uint64_t bytes_sent(const CollectivePlan& plan) {
  std::uint64_t sum = 0;
  for (const CollectivePlan::Message& m : plan.messages) {
    for (std::uint32_t p = m.first_piece; p < m.first_piece + m.pieces; ++p) {
      const CollectivePlan::Piece& piece = plan.pieces[p];
      sum += plan.begin[piece.first + piece.count] - plan.begin[piece.first];
    }
  }
  return sum;
}

// A multicast backwards: as many steps, and what each rank received it sends. There and back twice
// that. Full binary trees and double trees have the steps that they are known for (Sanders, Speck
// and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009).
TEST_P(Collectives, HaveTheStepsAndBytesOfTheirMulticast) {
  for (std::uint32_t n = 2; n <= 70; ++n) {
    for (const std::uint32_t k : {1u, 2u, 7u, 16u}) {
      SCOPED_TRACE(fmt::format("{} ranks, {} blocks", n, k));
      const MulticastOptions options = options_of(n, k);
      const std::uint32_t steps = pattern_named(GetParam()).plan(options).steps;
      const CollectivePlan reduce = reduce_plan(options, GetParam());
      const CollectivePlan allreduce = allreduce_plan(options, GetParam());
      EXPECT_EQ(reduce.steps, steps);
      EXPECT_EQ(allreduce.steps, 2 * steps);
      EXPECT_EQ(bytes_sent(reduce), std::uint64_t{n - 1} * k);
      EXPECT_EQ(bytes_sent(allreduce), 2 * std::uint64_t{n - 1} * k);
      if (GetParam() == "binary-tree" && (n & (n + 1)) == 0) {
        EXPECT_EQ(allreduce.steps, 4 * (k + floor_log2(n) - 1));
      }
      if (GetParam() == "double-tree") {
        EXPECT_LE(allreduce.steps, 2 * (k + 2 * floor_log2(n - 1)));
      }
    }
  }
}

TEST(CollectiveSteps, AreThoseOfTheSchedule) {
  EXPECT_EQ(compile(parse_spec("reduce:ranks=9,bytes=50,block=10")).step_count(), 8u);
  EXPECT_EQ(compile(parse_spec("allreduce:ranks=9,bytes=50,block=10")).step_count(), 16u);
  EXPECT_EQ(compile(parse_spec("barrier:ranks=9")).step_count(), 4u);
}

// Every leave comes after every come, by arcs that rest on data alone.
TEST(Barrier, HoldsEveryRankUntilAllHaveCome) {
  std::vector<std::string> all = bases();
  for (const char* algorithm : {"ring", "recursive-doubling", "rabenseifner", "bruck"}) {
    all.emplace_back(algorithm);
  }
  for (const std::string& by : all) {
    for (std::uint32_t n = 1; n <= 16; ++n) {
      const Schedule s = compile(parse_spec(fmt::format("barrier:ranks={},by={}", n, by)));
      std::vector<OpId> come(n, OpId::none());
      std::vector<OpId> leave(n, OpId::none());
      for (std::uint32_t i = 0; i < s.op_count(); ++i) {
        const Op& op = s.ops()[i];
        if (op.kind != OpKind::kJoin) continue;
        if (!come[op.rank.value].valid()) come[op.rank.value] = OpId(i);
        leave[op.rank.value] = OpId(i);
      }
      const auto order = issue_order(s);
      ASSERT_TRUE(order);
      for (std::uint32_t r = 0; r < n; ++r) {
        // What comes after a rank's come: one pass over an order of issues, with what a send's
        // match waits for.
        std::vector<bool> after(s.op_count(), false);
        after[come[r].value] = true;
        for (bool grew = true; grew;) {
          grew = false;
          for (const OpId id : order->sequence) {
            if (after[id.value]) continue;
            const Op& op = s.op(id);
            bool now = op.kind == OpKind::kRecv && op.match.valid() && after[op.match.value];
            for (const Edge& e : s.edges_into(id)) now = now || after[e.pred.value];
            if (now) after[id.value] = grew = true;
          }
        }
        for (std::uint32_t to = 0; to < n; ++to) {
          ASSERT_TRUE(after[leave[to].value]) << by << " " << n << ": " << r << " to " << to;
        }
      }
    }
  }
}

// An operand that is left out, or added twice, or that of a wrong rank, is seen in the contract.
TEST(Reduce, EveryLostOrDoubledTermIsFound) {
  for (const char* text : {"reduce:ranks=7,bytes=24,block=8", "allreduce:ranks=6,bytes=16,block=8",
                           "reduce:ranks=9,bytes=8,by=binomial-tree"}) {
    const Schedule sound = compile(parse_spec(text));
    std::uint32_t reduces = 0;
    for (std::uint32_t i = 0; i < sound.op_count(); ++i) {
      if (sound.ops()[i].kind != OpKind::kReduce) continue;
      ++reduces;
      for (const int how : {0, 1, 2}) {
        Draft draft = Draft::from(sound);
        std::vector<Slice>& reads = draft.ops[i].reads;
        if (how == 0) reads.pop_back();               // the arrival is not added
        if (how == 1) reads.push_back(reads.back());  // twice
        if (how == 2) reads.front() = reads.back();   // instead of what stood there
        const Diagnostics found = verify(draft.build());
        ASSERT_FALSE(found.empty()) << text << " op " << i << " defect " << how;
        EXPECT_EQ(found.front().code, Code::kPost);
      }
    }
    EXPECT_GT(reduces, 5u);
    for (std::size_t e = 0; e < sound.edges().size(); ++e) {
      const Edge edge = sound.edges()[e];
      if (sound.op(edge.succ).kind != OpKind::kReduce) continue;
      Draft draft = Draft::from(sound);
      draft.edges.erase(draft.edges.begin() + static_cast<std::ptrdiff_t>(e));
      EXPECT_FALSE(verify(draft.build()).empty())
          << text << ": " << describe(sound, edge.pred) << " -> " << describe(sound, edge.succ);
    }
  }
}

TEST(CollectiveSpec, RoundTripsAndSaysWhatIsWrong) {
  for (const char* text :
       {"reduce:ranks=16,bytes=1MiB,block=64KiB,root=3,by=binomial-tree",
        "allgather:ranks=5,bytes=100,in-flight=2,by=chain", "allreduce:ranks=8,bytes=1KiB,slots=2",
        "barrier:ranks=12,window=2,messages=3"}) {
    EXPECT_EQ(format_spec(parse_spec(text)), text);
    const Schedule schedule = compile(parse_spec(text));
    EXPECT_EQ(schedule.title(), text);
    EXPECT_GE(most_ops(parse_spec(text)), schedule.op_count());
  }
  const auto spec_error = [](const std::string& text) {
    return error_of([&] { compile(parse_spec(text)); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(spec_error("barrier:ranks=4,bytes=8"), HasSubstr("bytes: not an option of barrier"));
  EXPECT_THAT(spec_error("allgather:ranks=4,bytes=8,root=1"), HasSubstr("root: not an option of"));
  EXPECT_THAT(spec_error("reduce:ranks=4,bytes=8,by=hybrid"), HasSubstr("by: unknown pattern"));
  EXPECT_THAT(spec_error("chain:ranks=4,bytes=8,by=chain"),
              HasSubstr("reduce, allreduce, allgather, reduce-scatter, alltoall, barrier"));
  EXPECT_THAT(spec_error("reduce:ranks=4,bytes=8,lower=put"), HasSubstr("lower: not an option of"));
}

}  // namespace
}  // namespace slackline::testing
