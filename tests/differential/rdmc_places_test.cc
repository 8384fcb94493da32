// One delay at every place, and slow pairs, by SimGrid: the event engine's answer with and without
// overheads, and RDMC's claims on NICs that share.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "analysis/engines/analytic.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/property/rdmc_schedules.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::NicDiscipline;
using machine::Platform;
using sched::Schedule;
using sched::Trace;
using testing::block_times;
using testing::blocks_of;
using testing::expect_equal;
using testing::kBlockTime_s;
using testing::one_delay;
using testing::slow_pair;

void expect_agreement_at_every_place(const Schedule& schedule, const Platform& platform,
                                     const std::vector<std::int64_t>& delays_ps) {
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    for (const std::int64_t by_ps : delays_ps) {
      const DelayPlan plan = one_delay(i, by_ps, (i + by_ps / 1'000) % 2 == 0);
      expect_equal(sim::run_simgrid({schedule, platform, plan}),
                   analysis::run_analytic({schedule, platform, plan}), plan.text());
    }
  }
}

TEST(DelayPlaces, EnginesAgree) {
  for (const Platform& platform : {block_times(), testing::with_overheads()}) {
    expect_agreement_at_every_place(blocks_of("binomial-pipeline", 8, 6), platform,
                                    {1'000, 10'001'000, 23'000'000});
    expect_agreement_at_every_place(blocks_of("binomial-pipeline", 8, 6, ",start=all"), platform,
                                    {5'000'000, 23'001'000});
    expect_agreement_at_every_place(blocks_of("binomial-pipeline", 16, 4), platform, {5'000'000});
  }
}

TEST(DelayPlaces, OneDelayAddsAtMostItselfOnFairNicsToo) {
  const Platform platform = block_times(NicDiscipline::kFair);
  const Schedule schedule = blocks_of("binomial-pipeline", 8, 6);
  const double base_s = sim::run_simgrid({schedule, platform}).makespan_s();
  EXPECT_NEAR(base_s, 8 * kBlockTime_s, 1e-12);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    for (const std::int64_t by_ps : {1'000'000, 10'001'000, 23'000'000}) {
      const DelayPlan plan = one_delay(i, by_ps, i % 2 == 0);
      EXPECT_LE(sim::run_simgrid({schedule, platform, plan}).makespan_s(),
                base_s + sched::seconds(sched::Time{by_ps}) + 1e-11)
          << plan.text();
    }
  }
}

TEST(SlowPairs, OfSixteenRanks) {
  const Schedule schedule = blocks_of("binomial-pipeline", 16, 16);
  for (const NicDiscipline nic : {NicDiscipline::kSerial, NicDiscipline::kFair}) {
    const double base_s = sim::run_simgrid({schedule, block_times(nic)}).makespan_s();
    double worst_s = base_s;
    for (std::uint32_t src = 0; src < 16; ++src) {
      for (std::uint32_t bit = 1; bit < 16; bit *= 2) {
        const DelayPlan plan = slow_pair(src, src ^ bit);
        const Trace trace = sim::run_simgrid({schedule, block_times(nic), plan});
        worst_s = std::max(worst_s, trace.makespan_s());
        if (nic == NicDiscipline::kFair) continue;
        expect_equal(trace, analysis::run_analytic({schedule, block_times(), plan}), plan.text());
      }
    }
    // 19 steps, of which every fourth takes twice as long.
    EXPECT_NEAR(base_s / worst_s, 19.0 / (19 + 5), 1e-9);
  }
}

TEST(SlowPairs, TakeAChainDownToTheirRateOnFairNicsToo) {
  const Schedule schedule = blocks_of("chain", 8, 64);
  const Platform fair = block_times(NicDiscipline::kFair);
  EXPECT_NEAR(sim::run_simgrid({schedule, fair, slow_pair(3, 4)}).makespan_s(),
              (2 * 64 + 6) * kBlockTime_s, 1e-11);
}

}  // namespace
}  // namespace slackline
