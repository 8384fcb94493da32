#include "report/critical_causes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analysis/engines/analytic.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "tests/support/compiled.h"

namespace slackline::report {
namespace {

std::vector<CriticalStretch> causes_of(const std::string& spec, const std::string& platform_spec,
                                       const machine::DelayPlan& plan = {}) {
  const sched::Schedule schedule = testing::compiled(spec);
  const machine::Platform platform = machine::load_platform(platform_spec);
  const machine::Wiring wiring(platform, schedule.rank_count());
  const sched::Trace trace = analysis::run_analytic({schedule, platform, wiring, plan});
  const auto graph = analysis::frozen_run({schedule, platform, wiring, plan}, trace);
  return critical_causes(graph, {schedule, platform, wiring, plan},
                         machine::Delays(plan, schedule, platform),
                         machine::Paths(schedule, wiring, plan));
}

double total_s(const std::vector<CriticalStretch>& stretches, Cause cause) {
  double sum_s = 0;
  for (const CriticalStretch& s : stretches) sum_s += s.by_cause_s[static_cast<std::size_t>(cause)];
  return sum_s;
}

TEST(CriticalCauses, AddUpToTheMakespanWithoutGaps) {
  for (const char* spec :
       {"chain:ranks=3,bytes=1MiB", "binomial-pipeline:ranks=8,bytes=4MiB,block=256KiB",
        "allreduce:ranks=4,bytes=64KiB", "barrier:ranks=5"}) {
    const auto stretches = causes_of(spec, "fractus");
    ASSERT_FALSE(stretches.empty()) << spec;
    double sum_s = 0;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const double begin_s = i > 0 ? stretches[i - 1].end_s : 0;
      EXPECT_NEAR(stretches[i].begin_s, begin_s, 1e-15) << spec;
      const auto& parts = stretches[i].by_cause_s;
      const double length_s = std::accumulate(parts.begin(), parts.end(), 0.0);
      EXPECT_NEAR(length_s, stretches[i].end_s - stretches[i].begin_s, 1e-15) << spec;
      sum_s += length_s;
    }
    EXPECT_NEAR(sum_s, stretches.back().end_s, 1e-13) << spec;
  }
}

TEST(CriticalCauses, OfOneMessageAreItsTimes) {
  // 1 MB at 8 Gb/s is 1 ms on the wire.
  const auto stretches = causes_of("chain:ranks=2,bytes=1MB,block=1MB,ready=none",
                                   "star:rate=8Gbps,latency=2us,o_post=100ns,o_complete=300ns");
  EXPECT_NEAR(total_s(stretches, Cause::kWire), 1e-3, 1e-12);
  EXPECT_NEAR(total_s(stretches, Cause::kLane), 100e-9, 1e-12);
  EXPECT_NEAR(total_s(stretches, Cause::kCompletion), 300e-9, 1e-12);
  // There and back: the acknowledgement comes last.
  EXPECT_NEAR(total_s(stretches, Cause::kLatency), 4e-6, 1e-12);
  EXPECT_EQ(total_s(stretches, Cause::kDelay), 0);
}

TEST(CriticalCauses, OfALookAreTheCompletion) {
  const auto stretches = causes_of(
      "chain:ranks=3,bytes=1MB,block=1MB,ready=none",
      "star:rate=8Gbps,latency=2us,o_post=100ns,o_complete=300ns,o_poll=70ns,o_match=20ns");
  EXPECT_NEAR(total_s(stretches, Cause::kWire), 2e-3, 1e-12);
  // The receive that is passed on waits for its look, and so does the last send of its channel.
  EXPECT_NEAR(total_s(stretches, Cause::kCompletion), 390e-9 + 370e-9, 1e-12);
}

TEST(CriticalCauses, TellDelaysOfATurnFromIt) {
  // Every post waits for the one before it on its lane, and is delayed.
  machine::DelayPlan plan;
  for (std::uint32_t op = 0; op < 8; ++op) {
    plan.ops.push_back({sched::OpId(op), sched::Time{3'000'000}, true, sched::RankId::none()});
  }
  const auto stretches = causes_of("sequential:ranks=9,bytes=9,block=9,ready=none",
                                   "star:rate=100Gbps,latency=1ns,o_post=100ns", plan);
  EXPECT_NEAR(total_s(stretches, Cause::kDelay), 8 * 3e-6, 1e-12);
  EXPECT_NEAR(total_s(stretches, Cause::kLane), 8 * 100e-9, 1e-12);
}

TEST(CriticalCauses, TellDelaysFromTheRest) {
  machine::DelayPlan plan;
  plan.ops.push_back({sched::OpId(0), sched::Time{5'000'000}, true, sched::RankId::none()});
  const auto stretches = causes_of("chain:ranks=2,bytes=1MB,block=1MB,ready=none",
                                   "star:rate=8Gbps,latency=2us,o_post=100ns", plan);
  EXPECT_NEAR(total_s(stretches, Cause::kDelay), 5e-6, 1e-12);
  EXPECT_NEAR(total_s(stretches, Cause::kLane), 100e-9, 1e-12);
}

}  // namespace
}  // namespace slackline::report
