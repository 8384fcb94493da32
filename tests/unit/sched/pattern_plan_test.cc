// What all patterns promise, for every small case and for random larger ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "base/error.h"
#include "sched/pattern/pattern.h"
#include "sched/pattern/rack_map.h"
#include "tests/unit/sched/pattern_checker.h"

namespace slackline::sched {
namespace {

std::uint32_t ceil_divide(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>((a + b - 1) / b);
}

std::uint32_t pipeline_steps(std::uint32_t n, std::uint32_t k) {
  return n == 1 ? 0 : k - 1 + ceil_log2(n);
}

std::uint32_t binary_tree_steps(std::uint32_t n, std::uint32_t k) {
  if (n == 2) return k;
  const std::uint32_t depth = floor_log2(n);
  return 2 * k - 2 + std::max(2 * depth - 2, depth + floor_log2(n - (1u << depth) + 1));
}

std::uint32_t hybrid_steps(std::uint32_t n, std::uint32_t k) {
  const std::uint32_t racks = default_rack_count(n);
  return pipeline_steps(racks, k) + pipeline_steps(ceil_divide(n, racks), k);
}

std::uint32_t scatter_allgather_bound(std::uint32_t n, std::uint32_t k) {
  std::uint32_t steps = (n - 1) * ceil_divide(k, n);
  for (std::uint32_t half = 1; half < n; half *= 2) {
    steps += ceil_divide(std::uint64_t{half} * k, n);
  }
  return steps;
}

struct Bounds {
  std::uint32_t low;
  std::uint32_t high;
};

// For n ≥ 2.
const std::map<std::string_view, std::function<Bounds(std::uint32_t, std::uint32_t)>>& bounds() {
  const auto exactly = [](auto steps) {
    return [steps](std::uint32_t n, std::uint32_t k) { return Bounds{steps(n, k), steps(n, k)}; };
  };
  using Count = std::uint32_t;
  static const std::map<std::string_view, std::function<Bounds(Count, Count)>> all = {
      {"sequential", exactly([](Count n, Count k) { return k * (n - 1); })},
      {"chain", exactly([](Count n, Count k) { return k + n - 2; })},
      {"binomial-tree", exactly([](Count n, Count k) { return k * ceil_log2(n); })},
      {"binomial-pipeline", exactly(pipeline_steps)},
      {"circulant", exactly(pipeline_steps)},
      {"hybrid", exactly(hybrid_steps)},
      {"binary-tree", exactly(binary_tree_steps)},
      {"scatter-allgather",
       [](Count n, Count k) {
         const Count exact = 2 * k / n * (n - 1);
         return k % n == 0 ? Bounds{exact, exact}
                           : Bounds{pipeline_steps(n, k), scatter_allgather_bound(n, k)};
       }},
      {"double-tree",
       [](Count n, Count k) {
         return Bounds{pipeline_steps(n, k), k + 2 * floor_log2(n - 1)};
       }},
  };
  return all;
}

void expect_sound(const PatternEntry& pattern, const MulticastOptions& options) {
  const Plan plan = pattern.plan(options);
  ASSERT_EQ(broken_promise(plan), "")
      << pattern.name << " n=" << plan.ranks << " k=" << plan.blocks << " root=" << plan.root.value;
  ASSERT_EQ(plan.root, options.root);
  ASSERT_FALSE(plan.delivers_twice);
}

class EveryPattern : public ::testing::TestWithParam<PatternEntry> {};

TEST_P(EveryPattern, KeepsItsPromisesInEverySmallCase) {
  const PatternEntry& pattern = GetParam();
  const auto& bound = bounds().at(pattern.name);
  for (std::uint32_t n = 1; n <= 70; ++n) {
    for (std::uint32_t k = 1; k <= 60; ++k) {
      const Plan plan = pattern.plan(options_of(n, k));
      ASSERT_EQ(plan.ranks, n);
      ASSERT_EQ(plan.blocks, k);
      ASSERT_EQ(broken_promise(plan), "") << "n=" << n << " k=" << k;
      const auto [low, high] = n == 1 ? Bounds{0, 0} : bound(n, k);
      ASSERT_GE(plan.steps, low) << "n=" << n << " k=" << k;
      ASSERT_LE(plan.steps, high) << "n=" << n << " k=" << k;
    }
  }
}

TEST_P(EveryPattern, KeepsItsPromisesFromEveryRoot) {
  for (std::uint32_t n = 1; n <= 20; ++n) {
    for (std::uint32_t root = 0; root < n; ++root) {
      for (const std::uint32_t k : {1u, 2u, 7u}) expect_sound(GetParam(), options_of(n, k, root));
    }
  }
}

TEST_P(EveryPattern, KeepsItsPromisesInRandomLargerCases) {
  std::mt19937 random(20);
  const auto up_to = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  for (int i = 0; i < 40; ++i) {
    const std::uint32_t n = 1 + up_to(1500);
    expect_sound(GetParam(), options_of(n, 1 + up_to(200), up_to(n)));
  }
}

TEST_P(EveryPattern, HandlesManyBlocksAndManyRanks) {
  expect_sound(GetParam(), options_of(3, 100'000, 1));
  expect_sound(GetParam(), options_of(100'003, 2, 77));
}

TEST_P(EveryPattern, SendsAnEmptyMessageAsOneEmptyBlock) {
  MulticastOptions options = options_of(6, 1);
  options.bytes = 0;
  const Plan plan = GetParam().plan(options);
  EXPECT_EQ(plan.blocks, 1u);
  EXPECT_EQ(plan.bytes_of(0), 0u);
  EXPECT_EQ(plan.transfers.size(), 5u);
  EXPECT_EQ(broken_promise(plan), "");
}

TEST_P(EveryPattern, AloneDoesNothing) {
  const Plan plan = GetParam().plan(options_of(1, 9));
  EXPECT_EQ(plan.steps, 0u);
  EXPECT_TRUE(plan.transfers.empty());
}

// Another root exchanges two names and changes nothing else.
TEST_P(EveryPattern, FlowIsTheSameFromAnotherRoot) {
  if (GetParam().find_option("racks") != nullptr) return;  // racks have names of their own
  for (const std::uint32_t n : {2u, 5u, 8u, 23u}) {
    const Plan from_zero = GetParam().plan(options_of(n, 5));
    for (std::uint32_t root = 1; root < n; ++root) {
      Plan renamed = from_zero;
      for (Transfer& transfer : renamed.transfers) {
        for (RankId* rank : {&transfer.src, &transfer.dst}) {
          rank->value = rank->value == 0 ? root : rank->value == root ? 0 : rank->value;
        }
      }
      std::sort(renamed.transfers.begin(), renamed.transfers.end());
      EXPECT_EQ(GetParam().plan(options_of(n, 5, root)).transfers, renamed.transfers);
    }
  }
}

TEST_P(EveryPattern, RefusesOptionsOutOfRange) {
  MulticastOptions options = options_of(4, 2);
  options.root = RankId(4);
  EXPECT_THROW(GetParam().plan(options), InputError);
  options = options_of(4, 2);
  options.block_bytes = 0;
  EXPECT_THROW(GetParam().plan(options), InputError);
  options = options_of(4, 2);
  options.ranks = 0;
  EXPECT_THROW(GetParam().plan(options), InputError);
  EXPECT_THROW(GetParam().plan(options_of(1u << 24, 65)), InputError);  // past kMaxTransfers
  options = options_of(2, 2);
  options.bytes = 1ull << 40;
  options.block_bytes = 1;
  EXPECT_THROW(GetParam().plan(options), InputError);
}

std::string test_name(const ::testing::TestParamInfo<PatternEntry>& info) {
  std::string name(info.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Pattern, EveryPattern, ::testing::ValuesIn(plan_patterns()), test_name);

TEST(Patterns, AreFoundByTheirNames) {
  for (const PatternEntry& pattern : plan_patterns()) {
    EXPECT_EQ(find_pattern(pattern.name)->plan, pattern.plan);
    EXPECT_TRUE(bounds().contains(pattern.name));
  }
  EXPECT_EQ(find_pattern("chains"), nullptr);
  EXPECT_EQ(find_pattern(""), nullptr);
}

// The pattern checker itself must see what is wrong.
TEST(PatternChecker, SeesSinglePointDefects) {
  const Plan sound = find_pattern("binomial-pipeline")->plan(options_of(11, 6));
  ASSERT_EQ(broken_promise(sound), "");
  for (std::size_t i = 0; i < sound.transfers.size(); ++i) {
    Plan plan = sound;
    plan.transfers.erase(plan.transfers.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(broken_promise(plan), "") << "without transfer " << i;
    plan = sound;
    plan.transfers[i].block = (plan.transfers[i].block + 1) % plan.blocks;
    EXPECT_NE(broken_promise(plan), "") << "other block in transfer " << i;
    plan = sound;
    plan.transfers[i].dst.value = (plan.transfers[i].dst.value + 1) % plan.ranks;
    EXPECT_NE(broken_promise(plan), "") << "other target in transfer " << i;
  }
}

}  // namespace
}  // namespace slackline::sched
