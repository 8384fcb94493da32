// What RDMC's authors state, and what follows from it, about the patterns' time, skew, slack and
// tolerance of delays (RDMC, sections 4.3 to 4.5), held in the analytic engine. Times are in block
// times: the machine has no overhead and no latency, so a block costs what it takes on a link.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/slack/step_slack.h"
#include "machine/platform.h"
#include "sched/compile.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::Platform;
using sched::OpId;
using sched::RankId;
using sched::Schedule;
using sched::Time;
using sched::Trace;

constexpr std::uint64_t kBlock = 1 << 20;

Platform bare() { return machine::parse_platform_spec("star:rate=100Gbps,latency=0"); }
double block_s() { return bare().transfer_s(kBlock); }

Schedule multicast(const std::string& pattern, std::uint32_t ranks, std::uint32_t blocks) {
  return compile(sched::parse_spec(
      fmt::format("{}:ranks={},bytes={},block={}", pattern, ranks, blocks * kBlock, kBlock)));
}

double block_times(const std::string& pattern, std::uint32_t ranks, std::uint32_t blocks,
                   const DelayPlan& delays = {}) {
  return analysis::run_analytic({multicast(pattern, ranks, blocks), bare(), delays}).makespan_s() /
         block_s();
}

// Last minus first rank to have the whole message, in block times.
double skew(const std::string& pattern, std::uint32_t ranks, std::uint32_t blocks) {
  const Schedule schedule = multicast(pattern, ranks, blocks);
  const Trace trace = analysis::run_analytic({schedule, bare()});
  std::vector<double> end_s(ranks, 0);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (op.kind != sched::OpKind::kRecv || op.writes.count == 0) continue;
    end_s[op.rank.value] = std::max(end_s[op.rank.value], trace.ops[i].done_s);
  }
  const auto [first, last] = std::minmax_element(end_s.begin() + 1, end_s.end());
  return (*last - *first) / block_s();
}

TEST(Rdmc, BlockTimesOfSixteenRanks) {
  EXPECT_NEAR(block_times("binomial-pipeline", 16, 256), 259, 1e-6);
  EXPECT_NEAR(block_times("chain", 16, 256), 270, 1e-6);
  EXPECT_NEAR(block_times("binomial-tree", 16, 256), 1024, 1e-6);
  EXPECT_NEAR(block_times("sequential", 16, 256), 3840, 1e-6);
  EXPECT_NEAR(block_times("binomial-pipeline", 16, 8), 11, 1e-6);
  EXPECT_NEAR(block_times("chain", 16, 8), 22, 1e-6);
  EXPECT_NEAR(block_times("binomial-tree", 16, 8), 32, 1e-6);
  EXPECT_NEAR(block_times("sequential", 16, 8), 120, 1e-6);
}

// docs/architecture.md: what is lost where a credit waits behind a block.
TEST(Rdmc, WrittenCreditsWaitBehindBlocksWhereOnlyEmptyMessagesInterleave) {
  Platform together = bare();
  together.interleave_bytes = 0;
  const auto times = [&](const char* options, const Platform& platform) {
    const Schedule schedule = compile(sched::parse_spec(
        fmt::format("binomial-pipeline:ranks=16,bytes=32MiB,block=1MiB{}", options)));
    const double analytic_s = analysis::run_analytic({schedule, platform}).makespan_s();
    EXPECT_NEAR(analytic_s / analysis::run_events({schedule, platform}).makespan_s(), 1, 1e-9);
    return analytic_s / block_s();
  };
  for (const char* written : {",ready=write,start=all", ",ready=write,window=2", ",ready=write"}) {
    EXPECT_NEAR(times(written, bare()), 35, 0.01) << written;
  }
  for (const char* empty : {"", ",start=all", ",window=2"}) {
    EXPECT_NEAR(times(empty, together), 35, 1e-6) << empty;
  }
  EXPECT_NEAR(times(",ready=write", together), 35, 0.01);
  EXPECT_NEAR(times(",ready=write,start=all", together), 61, 0.01);
  EXPECT_NEAR(times(",ready=write,window=2", together), 60, 0.01);
}

TEST(Rdmc, ManyReplicasCostLittleMoreThanOne) {
  EXPECT_NEAR(block_times("binomial-pipeline", 2, 256), 256, 1e-6);
  EXPECT_NEAR(block_times("binomial-pipeline", 5, 256), 258, 1e-6);
  EXPECT_NEAR(block_times("binomial-pipeline", 9, 256), 259, 1e-6);
  EXPECT_NEAR(block_times("binomial-pipeline", 512, 256), 264, 1e-6);
}

TEST(Rdmc, PipelineTakesItsStepsForEveryPowerOfTwo) {
  for (std::uint32_t n = 2; n <= 128; n *= 2) {
    for (const std::uint32_t k : {1u, 2u, 7u, 30u}) {
      EXPECT_NEAR(block_times("binomial-pipeline", n, k), k - 1 + std::bit_width(n) - 1, 1e-6)
          << n << " ranks, " << k << " blocks";
    }
  }
}

TEST(Rdmc, SkewOfReceivers) {
  for (const std::uint32_t n : {4u, 8u, 32u}) {
    for (const std::uint32_t k : {5u, 40u}) {  // at least log2 n, or the pipeline never fills
      EXPECT_NEAR(skew("binomial-pipeline", n, k), 0, 1e-6) << n << ", " << k;
      EXPECT_NEAR(skew("chain", n, k), n - 2, 1e-6) << n << ", " << k;
      EXPECT_NEAR(skew("sequential", n, k), k * (n - 2), 1e-6) << n << ", " << k;
    }
  }
}

TEST(Rdmc, AverageStepSlackIsTheClosedFormExactly) {
  for (std::uint32_t n = 4; n <= 1024; n *= 2) {
    const std::uint64_t l = std::bit_width(n) - 1;
    const analysis::StepSlack slack = analysis::step_slack(multicast("binomial-pipeline", n, 24));
    // 2(1 − (l−1)/(n−2)) as a fraction: 2(n − 2 − (l−1)) / (n−2).
    EXPECT_EQ(slack.steady.total * (n - 2), slack.steady.sends * 2 * (n - 2 - (l - 1))) << n;
    for (std::uint64_t j = l - 1; j < slack.of_step.size(); ++j) {
      EXPECT_EQ(slack.of_step[j].total * (n - 2), slack.of_step[j].sends * 2 * (n - 2 - (l - 1)))
          << n << " ranks, step " << j;
      EXPECT_GT(slack.of_step[j].sends, 0u);
    }
    EXPECT_EQ(slack.smallest, 1u) << n;
  }
}

// Section 4.5, item 1: one delay anywhere adds at most itself. Every place, a delay of the
// operation alone and of its whole lane, from a sliver to several block times.
void expect_one_delay_adds_at_most_itself(const Platform& platform, std::uint32_t ranks,
                                          std::uint32_t blocks, double beyond_s = 1e-15) {
  const Schedule schedule = multicast("binomial-pipeline", ranks, blocks);
  const double base_s = analysis::run_analytic({schedule, platform}).makespan_s();
  double most = 0;
  for (const double delay : {0.01, 0.5, 1.0, 3.7}) {
    const Time by{static_cast<std::int64_t>(delay * block_s() * 1e12)};
    for (std::uint32_t op = 0; op < schedule.op_count(); ++op) {
      for (const bool whole_lane : {false, true}) {
        DelayPlan plan;
        plan.ops.push_back({OpId(op), by, whole_lane, RankId::none()});
        const double added_s =
            analysis::run_analytic({schedule, platform, plan}).makespan_s() - base_s;
        ASSERT_LE(added_s, sched::seconds(by) * (1 + 1e-9) + beyond_s)
            << ranks << " ranks, " << describe(schedule, OpId(op)) << " delayed by " << delay
            << " block times" << (whole_lane ? ", its lane too" : "");
        ASSERT_GE(added_s, -1e-12);
        if (delay >= 1) most = std::max(most, added_s / sched::seconds(by));
      }
    }
  }
  EXPECT_NEAR(most, 1, 0.01);  // and somewhere it does add all of itself
}

TEST(Rdmc, OneDelayAddsAtMostItself) {
  expect_one_delay_adds_at_most_itself(bare(), 8, 6);
  expect_one_delay_adds_at_most_itself(bare(), 16, 4);
}

// With overheads, a delay may make a lane post something else first, which costs that post on top.
TEST(Rdmc, OneDelayAddsLittleMoreThanItselfWithOverheads) {
  const Platform platform = machine::load_platform("fractus");
  expect_one_delay_adds_at_most_itself(platform, 8, 6, 2 * sched::seconds(platform.o_post));
}

DelayPlan slow_pair(std::uint32_t src, std::uint32_t dst, std::uint64_t times_slower) {
  DelayPlan plan;
  plan.pairs.push_back(
      {RankId(src), RankId(dst), sched::Rate{bare().rate.bits_per_second / times_slower}});
  return plan;
}

// Section 4.5, item 2, sharpened: with S = l + k − 1 steps and a pair d times slower, the worst
// pair keeps S / (S + (d − 1)⌈S/l⌉) of the bandwidth, and no pair keeps less.
double worst_share(std::uint32_t ranks, std::uint32_t blocks, std::uint64_t times_slower) {
  const double base = block_times("binomial-pipeline", ranks, blocks);
  double worst = 1;
  for (std::uint32_t src = 0; src < ranks; ++src) {
    for (std::uint32_t bit = 1; bit < ranks; bit *= 2) {
      worst = std::min(worst, base / block_times("binomial-pipeline", ranks, blocks,
                                                 slow_pair(src, src ^ bit, times_slower)));
    }
  }
  return worst;
}

TEST(Rdmc, OneSlowPairCostsItsShareOfTheSteps) {
  for (const std::uint32_t n : {8u, 16u}) {
    for (const std::uint32_t k : {16u, 33u}) {
      for (const std::uint64_t d : {2u, 4u}) {
        const std::uint32_t l = std::bit_width(n) - 1;
        const double steps = l + k - 1;
        const double expected = steps / (steps + static_cast<double>(d - 1) * std::ceil(steps / l));
        EXPECT_NEAR(worst_share(n, k, d), expected, 1e-6) << n << ", " << k << ", " << d;
      }
    }
  }
}

TEST(Rdmc, OnePairAtHalfRateAmongSixtyFourRanks) {
  // 261 steps, of which the pair has 44: 261/305 = 85.57 %. The paper's rough formula gives 6/7 for
  // ever more blocks, and prints 85.6 %.
  EXPECT_NEAR(worst_share(64, 256, 2), 261.0 / 305.0, 1e-6);
}

TEST(Rdmc, ChainFallsToItsSlowestPair) {
  const double base = block_times("chain", 16, 256);
  const double slow = block_times("chain", 16, 256, slow_pair(7, 8, 2));
  EXPECT_NEAR(slow, 2 * 256 + 14, 1e-6);  // the pair takes every block at half rate
  EXPECT_NEAR(base / slow, 0.5, 0.02);
}

}  // namespace
}  // namespace slackline
