// RDMC's tolerance of delays and slow links (section 4.5) in SimGrid, with the analytic engine's
// answer beside it: every place for a delay at a small size, and the 64 ranks of the paper's
// example.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/engines/analytic.h"
#include "machine/platform.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::Platform;
using sched::OpId;
using sched::RankId;
using sched::Schedule;
using sched::Time;

constexpr std::uint64_t kBlock = 1 << 20;

Platform bare() { return machine::parse_platform_spec("star:rate=100Gbps,latency=0"); }

Schedule multicast(const std::string& pattern, std::uint32_t ranks, std::uint32_t blocks) {
  return compile(sched::parse_spec(
      fmt::format("{}:ranks={},bytes={},block={}", pattern, ranks, blocks * kBlock, kBlock)));
}

double simgrid_s(const Schedule& schedule, const DelayPlan& plan = {}) {
  const double makespan_s = sim::run_simgrid({schedule, bare(), plan}).makespan_s();
  const double analytic_s = analysis::run_analytic({schedule, bare(), plan}).makespan_s();
  EXPECT_NEAR(makespan_s, analytic_s, 1e-9 * analytic_s) << plan.text();
  return makespan_s;
}

TEST(RdmcInSimgrid, OneDelayAddsAtMostItself) {
  const Schedule schedule = multicast("binomial-pipeline", 8, 4);
  const double base_s = simgrid_s(schedule);
  for (const double delay : {0.3, 2.6}) {
    const Time by{static_cast<std::int64_t>(delay * bare().transfer_s(kBlock) * 1e12)};
    for (std::uint32_t op = 0; op < schedule.op_count(); ++op) {
      DelayPlan plan;
      plan.ops.push_back({OpId(op), by, op % 2 == 0, RankId::none()});
      const double added_s = simgrid_s(schedule, plan) - base_s;
      ASSERT_LE(added_s, sched::seconds(by) * (1 + 1e-9) + 1e-15) << describe(schedule, OpId(op));
      ASSERT_GE(added_s, -1e-12);
    }
  }
}

DelayPlan half_rate(std::uint32_t src, std::uint32_t dst) {
  DelayPlan plan;
  plan.pairs.push_back({RankId(src), RankId(dst), sched::Rate{50'000'000'000}});
  return plan;
}

TEST(RdmcInSimgrid, OnePairAtHalfRateAmongSixtyFourRanks) {
  const Schedule schedule = multicast("binomial-pipeline", 64, 256);
  // The root's first pair is among the worst: it carries 44 of the 261 steps.
  EXPECT_NEAR(simgrid_s(schedule) / simgrid_s(schedule, half_rate(0, 1)), 261.0 / 305.0, 1e-6);
}

TEST(RdmcInSimgrid, ChainFallsToItsSlowestPair) {
  const Schedule schedule = multicast("chain", 16, 256);
  EXPECT_NEAR(simgrid_s(schedule, half_rate(7, 8)) / bare().transfer_s(kBlock), 2 * 256 + 14, 1e-6);
}

}  // namespace
}  // namespace slackline
