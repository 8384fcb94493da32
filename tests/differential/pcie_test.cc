// Messages that PCIe holds: the simulators agree on them, alone and where they share links.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/longest_path.h"
#include "analysis/slack/propagation.h"
#include "analysis/slack/run_order.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "machine/wiring.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/differential/drawn_schedules.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using machine::Platform;
using machine::Wiring;
using sched::Schedule;
using sched::Trace;
using testing::Dice;
using testing::Program;
using testing::us;

// SimGrid's rounding grows where links are shared (docs/simulation.md, Rounding).
void expect_near(const Trace& a, const Trace& b, const std::string& what) {
  ASSERT_EQ(a.ops.size(), b.ops.size()) << what;
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    ASSERT_NEAR(a.ops[i].done_s, b.ops[i].done_s, 5e-9) << what << ", op " << i;
  }
}

// A star, or a network whose inner links have less than the NICs together. Where messages share, no
// two events tie: each operation is later by up to 2 ns of its own, more than SimGrid rounds.
TEST(Pcie, IsTheSameOnAllSimulators) {
  int alone = 0;
  int shared = 0;
  int longest = 0;
  for (std::uint32_t seed = 0; seed < 400 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::small_schedule(dice, seed);
    Platform platform = testing::random_platform(dice, NicDiscipline::kSerial);
    if (dice.one_in(2)) {
      platform.topology = testing::random_topology(dice);
      testing::vary_routing(platform.topology, seed);
    }
    if (dice.one_in(4)) testing::random_node(dice, platform);
    platform.pcie = {machine::Rate{dice.pick<std::uint64_t>({6, 20, 60}) * 1'000'000'000},
                     dice.pick<std::uint64_t>({0, 128, 1'000}),
                     dice.pick<std::uint32_t>({0, 24, 700})};
    machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    const Wiring wiring(platform, schedule.rank_count());
    if (dice.one_in(4)) {
      plan.link_rates.push_back({wiring.links()[0].name, {3'000'000'000}, us(2)});
      plan.link_rates.push_back({wiring.links()[0].name, {50'000'000'000}, us(9)});
    }
    const std::string what = testing::sample_text(seed, platform, plan);
    const machine::Setting setting(schedule, platform, wiring, plan);
    const Trace events = analysis::run_events(setting);
    const bool star = platform.topology.kind() == machine::TopologyKind::kStar;
    if (!events.contended && (star || !testing::has_repeated(events))) {
      testing::expect_all_equal(setting, events, what);
      ++alone;
      if (schedule.is_static()) {
        if (const auto trace = analysis::longest_path(setting)) {
          testing::expect_equal(*trace, events, what);
          ++longest;
        }
      }
    } else {
      for (std::uint32_t op = 0; op < schedule.op_count(); ++op) {
        const auto by_ps = static_cast<std::int64_t>(dice.below(2'000));
        plan.ops.push_back({sched::OpId(op), sched::Time{by_ps}, false, sched::RankId::none()});
      }
      expect_near(analysis::run_flows(setting), sim::run_simgrid(setting), what);
      ++shared;
    }
  }
  EXPECT_GT(alone, 200);
  EXPECT_GT(shared, 15);
  EXPECT_GT(longest, 30);
}

TEST(Pcie, IsAboveItsFloors) {
  for (std::uint32_t seed = 0; seed < 200 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::drawn_pattern(dice, seed, 12);
    Platform platform = testing::random_platform(dice, NicDiscipline::kSerial);
    if (dice.one_in(2)) platform.topology = testing::random_topology(dice);
    platform.pcie = {machine::Rate{6'000'000'000}, 256, 24};
    const machine::Setting setting(schedule, platform);
    const double floor_s = analysis::makespan_floor_s(setting);
    const double makespan_s = analysis::run_flows(setting).makespan_s();
    ASSERT_LE(floor_s, makespan_s * (1 + 1e-9) + 1e-11) << seed << " on " << platform.spec();
  }
}

// Slack knows what each message takes: it explains every run, and foretells what a delay costs as
// long as the order of the run stays.
TEST(Pcie, SlackExplainsEveryRunAndForetellsDelays) {
  int explained = 0;
  int foretold = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::small_schedule(dice, seed);
    Platform platform = testing::random_platform(dice, NicDiscipline::kSerial);
    platform.pcie = {machine::Rate{20'000'000'000}, 256, 24};
    if (schedule.op_count() == 0 || !schedule.is_static()) continue;
    const machine::DelayPlan plan = testing::random_delays(dice, schedule);
    const machine::Setting setting(schedule, platform, plan);
    const std::string what = testing::sample_text(seed, platform, plan);
    const Trace trace = analysis::run_events(setting);
    ASSERT_LE(analysis::timed_slack(setting, trace).unexplained_s,
              1e-9 * std::max(1e-3, trace.makespan_s()))
        << what;
    ++explained;
    const analysis::Propagation propagation(setting, trace, analysis::WireTimes::kModel);
    const analysis::RunOrder order(setting, trace);
    machine::DelayPlan more = plan;
    const sched::OpId id(dice.below(schedule.op_count()));
    more.ops.push_back({id, sched::Time{1 + dice.below(3'000'000)}, false, sched::RankId::none()});
    const Trace delayed = analysis::run_events(setting.with(more));
    if (!order.is_kept_by(schedule, delayed)) continue;
    ASSERT_NEAR(trace.makespan_s() + propagation.effect(more.ops.back()).makespan_s,
                delayed.makespan_s(), 1e-9 * delayed.makespan_s())
        << what;
    ++foretold;
  }
  EXPECT_GT(explained, 150);
  EXPECT_GT(foretold, 75);
}

// Two messages from rack to rack, each on hosts of its own, over an uplink of 0.7 GB/s. One
// transaction each, with 5000 bytes beside them, at 0.5 GB/s: 10,000 bytes have at most 1/3 GB/s,
// 40,000 at most 4/9. Together they would have 7/9. So the first has all of its rate for 30 us, and
// the second, meanwhile, 11/30; what is left of it, 29,000 bytes, takes 65.25 us.
TEST(Pcie, SharesALinkByHand) {
  Program p(4);
  const auto a = p.channel(0, 2);
  const auto b = p.channel(1, 3);
  p.send(a, 10'000);
  p.send(b, 40'000);
  const auto first = p.recv(a, 10'000);
  const auto second = p.recv(b, 40'000);
  const Schedule schedule = p.build();
  const std::string spec =
      "two-level:racks=2,hosts=2,rate=8Gbps,latency=1us,pcie_rate=4Gbps,pcie_header=5000B,uplink=";
  const auto expect = [&](const Trace& trace, double first_us, double second_us) {
    const double latency_us = 1;
    EXPECT_NEAR(trace.ops[first.value].wire_s * 1e6, latency_us + first_us, 1e-6) << trace.engine;
    EXPECT_NEAR(trace.ops[second.value].wire_s * 1e6, latency_us + second_us, 1e-6) << trace.engine;
  };
  const Platform narrow = machine::parse_platform_spec(spec + "5600Mbps");
  EXPECT_TRUE(analysis::run_events({schedule, narrow}).contended);
  expect(analysis::run_flows({schedule, narrow}), 30, 95.25);
  expect(sim::run_simgrid({schedule, narrow}), 30, 95.25);
  // An uplink of 1 GB/s has the rate for both, though not for two NICs' own.
  const Platform wide = machine::parse_platform_spec(spec + "8Gbps");
  EXPECT_FALSE(analysis::run_events({schedule, wide}).contended);
  expect(analysis::run_events({schedule, wide}), 30, 90);
  expect(analysis::run_flows({schedule, wide}), 30, 90);
  expect(sim::run_simgrid({schedule, wide}), 30, 90);
}

// SimGrid has to be told of every message before it begins.
TEST(Pcie, OfGatheredMessagesIsNotSimgrids) {
  Program p(2);
  const auto c = p.channel(0, 1);
  p.builder().channel(c).bundle = sched::Bundle::kTraditional;
  p.put(c, 5'000);
  p.put(c, 5'000);
  p.flush(c);
  const Schedule schedule = p.build();
  const Platform platform = machine::parse_platform_spec("star:pcie_rate=8Gbps");
  EXPECT_THROW(sim::run_simgrid({schedule, platform}), Unsupported);
  EXPECT_TRUE(sim::kSimgridEngine.why_refused({schedule, platform}).has_value());
  testing::expect_equal(analysis::run_flows({schedule, platform}),
                        analysis::run_events({schedule, platform}), "gathered");
}

}  // namespace
}  // namespace slackline
