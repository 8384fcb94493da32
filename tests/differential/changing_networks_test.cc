// Links whose rate changes and links and hosts that fail: the event engine works them out, SimGrid
// and the flow engine have them happen to their flows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/longest_path.h"
#include "machine/draw.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::Platform;
using sched::Schedule;

constexpr const char* kPatterns[] = {"binomial-pipeline", "chain", "sequential", "binomial-tree",
                                     "circulant"};

struct Random {
  std::uint64_t seed;
  std::uint32_t site = 0;
  std::uint64_t below(std::uint64_t bound) {
    return machine::draw_below({seed, 0, site++, 0}, bound);
  }
};

Schedule schedule_of(Random& random, std::uint32_t& ranks) {
  ranks = 2 + static_cast<std::uint32_t>(random.below(12));
  const std::uint64_t blocks = 1 + random.below(8);
  return compile(sched::parse_spec(std::string(kPatterns[random.below(5)]) +
                                   ":ranks=" + std::to_string(ranks) +
                                   ",block=64KiB,bytes=" + std::to_string(blocks * 65536)));
}

// Odd figures, so that nothing happens in the very instant of something else.
sched::Time moment(Random& random) {
  return sched::Time{static_cast<std::int64_t>(1'000'003 + random.below(60'000'000))};
}

std::string link(Random& random, std::uint32_t ranks) {
  return "host-" + std::to_string(random.below(ranks)) + (random.below(2) == 0 ? ".in" : ".out");
}

TEST(ChangingRates, AreTheSameInEveryEngine) {
  const Platform fractus = machine::load_platform("fractus");
  int answered = 0;
  for (std::uint64_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) {
    Random random{seed};
    std::uint32_t ranks = 0;
    const Schedule schedule = schedule_of(random, ranks);
    DelayPlan plan;
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
      plan.link_rates.push_back(
          {link(random, ranks), {1'000'000'000 * (1 + random.below(150))}, moment(random)});
    }
    std::string what = "seed " + std::to_string(seed);
    for (const machine::LinkRate& rate : plan.link_rates) {
      what += "; " + rate.link + " " + sched::format_rate(rate.rate) + " at " +
              sched::format_time(rate.at);
    }
    const sched::Trace events = analysis::run_events({schedule, fractus, plan});
    testing::expect_equal(events, sim::run_simgrid({schedule, fractus, plan}), what);
    const machine::Wiring wiring(fractus, schedule.rank_count());
    testing::expect_equal(events, analysis::run_flows({schedule, fractus, wiring, plan}), what);
    const auto fast = analysis::longest_path({schedule, fractus, plan});
    if (!fast) continue;
    ++answered;
    testing::expect_equal(events, *fast, what);
  }
  EXPECT_GT(answered, 50);
}

TEST(Failures, LoseTheSameOperationsInEveryEngine) {
  const Platform fractus = machine::load_platform("fractus");
  int incomplete = 0;
  for (std::uint64_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) {
    Random random{seed};
    std::uint32_t ranks = 0;
    const Schedule schedule = schedule_of(random, ranks);
    DelayPlan plan;
    for (std::uint64_t i = 1 + random.below(2); i > 0; --i) {
      if (random.below(2) == 0) {
        plan.failures.push_back({link(random, ranks), sched::RankId::none(), moment(random)});
      } else {
        plan.failures.push_back(
            {"", sched::RankId(static_cast<std::uint32_t>(random.below(ranks))), moment(random)});
      }
    }
    const sched::Trace events = analysis::run_events({schedule, fractus, plan});
    const machine::Wiring wiring(fractus, schedule.rank_count());
    for (const sched::Trace& other : {sim::run_simgrid({schedule, fractus, plan}),
                                      analysis::run_flows({schedule, fractus, wiring, plan})}) {
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        const double a = events.ops[i].done_s;
        const double b = other.ops[i].done_s;
        ASSERT_EQ(std::isfinite(a), std::isfinite(b))
            << other.engine << ", seed " << seed << ", op " << i;
        if (std::isinf(a)) continue;
        ASSERT_NEAR(a, b, 1e-9 * a) << other.engine << ", seed " << seed << ", op " << i;
      }
    }
    if (std::isinf(events.makespan_s())) ++incomplete;
  }
  EXPECT_GT(incomplete, 50);
}

// Where links are shared: what SimGrid's flows do the flow engine's do, to the 5 ns that SimGrid's
// rounding grows to.
TEST(ChangingNetworks, AreTheSameInBothEnginesThatShare) {
  int shared = 0;
  int incomplete = 0;
  for (std::uint64_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) {
    Random random{seed};
    std::uint32_t ranks = 0;
    const Schedule schedule = schedule_of(random, ranks);
    const Platform platform = machine::parse_platform_spec(
        std::string(random.below(2) == 0 ? "star:" : "two-level:racks=4,hosts=4,uplink=100Gbps,") +
        "rate=100Gbps,o_post=203ns,placement=random:" + std::to_string(seed) +
        (random.below(2) == 0 ? ",nic=fair" : ",nic=serial"));
    DelayPlan plan;
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
      plan.link_rates.push_back(
          {link(random, ranks), {1'000'000'000 * (1 + random.below(150))}, moment(random)});
    }
    if (random.below(2) == 0) {
      plan.failures.push_back({link(random, ranks), sched::RankId::none(), moment(random)});
    }
    const machine::Wiring wiring(platform, schedule.rank_count());
    const sched::Trace simgrid = sim::run_simgrid({schedule, platform, wiring, plan});
    const sched::Trace flows = analysis::run_flows({schedule, platform, wiring, plan});
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const double a = simgrid.ops[i].done_s;
      const double b = flows.ops[i].done_s;
      ASSERT_EQ(std::isfinite(a), std::isfinite(b)) << "seed " << seed << ", op " << i;
      if (std::isfinite(a)) {
        ASSERT_NEAR(a, b, 5e-9) << "seed " << seed << ", op " << i;
      }
    }
    shared += analysis::run_events({schedule, platform, wiring, plan}).contended ? 1 : 0;
    incomplete += std::isinf(flows.makespan_s()) ? 1 : 0;
  }
  EXPECT_GT(shared, 50);
  EXPECT_GT(incomplete, 20);
}

// A message whose way is cut in the instant in which it would have left is lost: 8 Mb at 7 Gb/s
// leave in 1142857142857.14 ps, and the cut is up to 1 ps later. The next picosecond is too late.
TEST(Failures, InTheInstantOfAnEnd) {
  const Platform platform = machine::parse_platform_spec("star:rate=7Gbps,latency=1us");
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=2,bytes=1MB,ready=none"));
  const machine::Wiring wiring(platform, schedule.rank_count());
  for (const std::int64_t cut_ps : {1142857142, 1142857143, 1142857144}) {
    DelayPlan plan;
    plan.failures.push_back({"host-1.in", sched::RankId::none(), sched::Time{cut_ps}});
    const bool lost = cut_ps != 1142857144;
    EXPECT_EQ(std::isinf(analysis::run_events({schedule, platform, plan}).makespan_s()), lost)
        << cut_ps;
    EXPECT_EQ(std::isinf(analysis::run_flows({schedule, platform, wiring, plan}).makespan_s()),
              lost)
        << cut_ps;
  }
}

// A host that fails after the end has not failed.
TEST(Failures, AfterTheEndChangeNothing) {
  const Platform fractus = machine::load_platform("fractus");
  const Schedule schedule =
      compile(sched::parse_spec("binomial-pipeline:ranks=8,bytes=1MiB,block=64KiB"));
  DelayPlan plan;
  plan.failures.push_back({"", sched::RankId(3), sched::Time{1'000'000'000'000}});
  const sched::Trace healthy = analysis::run_events({schedule, fractus});
  testing::expect_equal(healthy, analysis::run_events({schedule, fractus, plan}), "events");
  testing::expect_equal(healthy, sim::run_simgrid({schedule, fractus, plan}), "SimGrid");
}

}  // namespace
}  // namespace slackline
