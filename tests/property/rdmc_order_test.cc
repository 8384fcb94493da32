// Why one delay costs no more than itself: the order of receives and of posts. And the times of the
// patterns for every small number of ranks, in every way to say that a rank is ready.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "tests/property/rdmc_schedules.h"

namespace slackline {
namespace {

using machine::Platform;
using sched::Schedule;
using sched::Trace;
using testing::block_times;
using testing::blocks_of;
using testing::in_order_of;
using testing::kBlockTime_s;
using testing::one_delay;
using testing::slow_pair;
using testing::with_overheads;

double block_times_of(const Schedule& schedule, const machine::DelayPlan& plan = {}) {
  return analysis::run_analytic({schedule, block_times(), plan}).makespan_s() / kBlockTime_s;
}

TEST(RdmcTimes, OfEveryWayToBeReady) {
  for (const char* options :
       {"", ",ready=none", ",lower=put", ",window=2", ",start=all", ",window=3,start=all"}) {
    const auto time = [&](const char* pattern, std::uint32_t ranks, std::uint32_t blocks) {
      return block_times_of(blocks_of(pattern, ranks, blocks, options));
    };
    EXPECT_NEAR(time("binomial-pipeline", 16, 64), 67, 1e-9) << options;
    EXPECT_NEAR(time("chain", 16, 64), 78, 1e-9) << options;
    EXPECT_NEAR(time("binomial-tree", 16, 64), 256, 1e-9) << options;
    EXPECT_NEAR(time("sequential", 16, 64), 960, 1e-9) << options;
  }
}

// A word is written for each block, and takes its time on the wire.
TEST(RdmcTimes, ReadinessThatIsWrittenAddsItsWordsAtMost) {
  constexpr double kWord = 8.0 / 10'000;
  const std::pair<const char*, double> expected[] = {
      {"binomial-pipeline", 67}, {"chain", 78}, {"binomial-tree", 256}, {"sequential", 960}};
  for (const char* options : {",ready=write", ",ready=write,start=all"}) {
    for (const auto& [pattern, steps] : expected) {
      const double time = block_times_of(blocks_of(pattern, 16, 64, options));
      EXPECT_GE(time, steps - 1e-9) << pattern << options;
      EXPECT_LE(time, steps * (1 + kWord) + 1e-9) << pattern << options;
    }
  }
}

TEST(RdmcTimes, OfEveryNumberOfRanks) {
  for (std::uint32_t n = 2; n <= 66; ++n) {
    const auto log = static_cast<std::uint32_t>(std::bit_width(n - 1));
    for (const std::uint32_t k : {1u, 2u, 3u, 7u, 20u}) {
      const std::pair<const char*, std::uint32_t> expected[] = {{"binomial-pipeline", k - 1 + log},
                                                                {"chain", k + n - 2},
                                                                {"sequential", k * (n - 1)},
                                                                {"binomial-tree", k * log}};
      for (const auto& [pattern, steps] : expected) {
        EXPECT_NEAR(block_times_of(blocks_of(pattern, n, k)), steps, 1e-9)
            << pattern << ", " << n << " ranks, " << k << " blocks";
      }
    }
  }
}

// The most that one delay adds to the makespan beyond itself, over every operation, both kinds of
// delay, and delays from next to nothing to several blocks.
double worst_excess_s(const Schedule& schedule, const Platform& platform) {
  const double base_s = analysis::run_analytic({schedule, platform}).makespan_s();
  double worst_s = 0;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    for (const bool of_lane : {false, true}) {
      for (const std::int64_t by_ps :
           {1'000, 1'000'000, 5'000'000, 10'000'000, 10'001'000, 23'000'000, 70'000'000}) {
        const double late_s =
            analysis::run_analytic({schedule, platform, one_delay(i, by_ps, of_lane)}).makespan_s();
        worst_s = std::max(worst_s, late_s - base_s - sched::seconds(sched::Time{by_ps}));
      }
    }
  }
  return worst_s;
}

TEST(RdmcOrder, OfReceivesKeepsEveryPatternsDelaySmall) {
  const struct {
    const char* pattern;
    std::uint32_t ranks;
    std::uint32_t blocks;
  } sizes[] = {{"binomial-pipeline", 8, 6},
               {"binomial-pipeline", 16, 4},
               {"binomial-pipeline", 12, 4},
               {"binomial-pipeline", 5, 3},
               {"chain", 8, 6},
               {"circulant", 11, 4}};
  for (const auto& [pattern, ranks, blocks] : sizes) {
    EXPECT_NEAR(worst_excess_s(blocks_of(pattern, ranks, blocks), block_times()), 0, 1e-13)
        << pattern << ", " << ranks;
  }
}

// A rank that is ready for several ranks takes blocks as they come, and a late one waits behind
// later ones.
TEST(RdmcOrder, OfReceivesByChannelAloneLetsADelayGrow) {
  EXPECT_GE(worst_excess_s(blocks_of("binomial-pipeline", 8, 6, ",start=all"), block_times()),
            kBlockTime_s);
  EXPECT_GE(worst_excess_s(blocks_of("binomial-pipeline", 16, 4, ",start=all"), block_times()),
            kBlockTime_s);
  const Schedule schedule = blocks_of("binomial-pipeline", 16, 64, ",start=all");
  double worst = 0;
  for (std::uint32_t src = 0; src < 16; ++src) {
    for (std::uint32_t bit = 1; bit < 16; bit *= 2) {
      worst = std::max(worst, block_times_of(schedule, slow_pair(src, src ^ bit)));
    }
  }
  EXPECT_GT(worst, 67 + 17 + 4);  // 17 uses of the pair would cost 17 blocks
}

// With overheads the order of posts counts as well: it decides the rest of the excess.
TEST(RdmcOrder, OfPostsMakesTheBoundExactWithOverheads) {
  for (const Schedule& schedule :
       {blocks_of("binomial-pipeline", 8, 6), blocks_of("binomial-pipeline", 16, 4),
        blocks_of("chain", 8, 6)}) {
    const Trace trace = analysis::run_events({schedule, with_overheads()});
    const Schedule strict = in_order_of(schedule, trace);
    EXPECT_NEAR(analysis::run_events({strict, with_overheads()}).makespan_s(), trace.makespan_s(),
                1e-13);
    EXPECT_NEAR(worst_excess_s(strict, with_overheads()), 0, 1e-13) << schedule.title();
    EXPECT_LE(worst_excess_s(schedule, with_overheads()), 2 * 0.2e-6 + 1e-13) << schedule.title();
  }
}

TEST(RdmcOrder, SkewOfOtherNumbersOfRanksIsAStepAtMost) {
  for (std::uint32_t n = 3; n <= 40; ++n) {
    const Schedule schedule = blocks_of("binomial-pipeline", n, 12);
    const Trace trace = analysis::run_analytic({schedule, block_times()});
    std::vector<double> end_s(n, 0);
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const sched::Op& op = schedule.ops()[i];
      if (op.kind != sched::OpKind::kRecv || op.writes.count == 0) continue;
      end_s[op.rank.value] = std::max(end_s[op.rank.value], trace.ops[i].done_s);
    }
    const auto [first, last] = std::minmax_element(end_s.begin() + 1, end_s.end());
    EXPECT_LE((*last - *first) / kBlockTime_s, 1 + 1e-9) << n;
  }
}

}  // namespace
}  // namespace slackline
