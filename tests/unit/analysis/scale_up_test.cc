// A network within a machine, and hosts that differ, worked out by hand on round_platform() (a post
// takes 1 us, 1000 bytes take 1 us on the wire, the way 3 us, seeing a completion 2 us), and
// against ranks that have a host each.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "analysis/advice/makespan_floor.h"
#include "analysis/advice/structure_cost.h"
#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/link_load.h"
#include "analysis/engines/longest_path.h"
#include "analysis/engines/stream.h"
#include "analysis/slack/link_upgrades.h"
#include "analysis/slack/timed_slack.h"
#include "analysis/slack/tolerance.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"
#include "tests/support/sanitized.h"
#include "tests/unit/analysis/message_case.h"
#include "tests/unit/analysis/rank_programs.h"

namespace slackline {
namespace {

using machine::Platform;
using machine::RailRule;
using sched::Trace;
using testing::ChannelId;
using testing::Dice;
using testing::MessageCase;
using testing::OpId;
using testing::Program;
using testing::RankId;
using testing::us;

// 10 000 bytes a microsecond within a node of so many ranks, half a microsecond from rank to rank.
Platform nodes_of(std::uint32_t ranks) {
  Platform p = testing::round_platform();
  p.node.ranks = ranks;
  p.node.scale_up = {{80'000'000'000}, us(0.5)};
  return p;
}

void expect_case(const MessageCase& c) {
  testing::expect_seen_by(c, analysis::run_events, analysis::run_flows, analysis::run_analytic);
}

TEST(ScaleUp, TwoRanksOfANodeHaveAPortEach) {
  Program p(2);
  const ChannelId channel = p.channel(0, 1);
  const OpId first = p.put(channel, 20'000);
  const OpId second = p.put(channel, 20'000);
  const OpId small = p.put(channel, 1'000);
  const OpId empty = p.put(channel, 0);
  // The first has the port from 1 to 3. It arrives at 3.5, and its acknowledgement at 4. The small
  // ones have a port of their own.
  expect_case({"one node",
               p.build(),
               nodes_of(2),
               {{first, 1, 1, 6}, {second, 2, 3, 8}, {small, 3, 3, 6.1}, {empty, 4, 4, 7}}});
}

TEST(ScaleUp, TwoRanksInTwoNodesHaveTheirNicsAsEver) {
  Program p(4);
  const OpId across = p.put(p.channel(0, 2), 10'000);
  const OpId within = p.put(p.channel(0, 1), 20'000);
  const OpId again = p.put(p.channel(0, 2), 10'000);
  const OpId other = p.put(p.channel(1, 2), 10'000);
  const sched::Schedule schedule = p.build();
  // Within there is a port that the NIC's messages do not hold; they have one NIC for both ranks.
  expect_case({"one NIC",
               schedule,
               nodes_of(2),
               {{across, 1, 1, 19}, {within, 2, 2, 7}, {other, 1, 11, 29}, {again, 3, 21, 39}}});
  // With a NIC each they still meet at the receiver's.
  Platform railed = nodes_of(2);
  railed.node.rails.count = 2;
  expect_case({"two NICs",
               schedule,
               railed,
               {{across, 1, 1, 19}, {within, 2, 2, 7}, {other, 1, 11, 29}, {again, 3, 21, 39}}});
  railed.node.rails.rule = RailRule::kPair;  // of 0 and 2 the first, of 1 and 2 the second
  expect_case({"by pairs",
               schedule,
               railed,
               {{across, 1, 1, 19}, {within, 2, 2, 7}, {other, 1, 1, 19}, {again, 3, 11, 29}}});
}

TEST(ScaleUp, RivalsMeetAtTheReceiversPort) {
  Program p(3);
  const OpId first = p.put(p.channel(0, 2), 30'000);
  const OpId second = p.put(p.channel(1, 2), 30'000);
  const OpId back = p.put(p.channel(2, 0), 30'000);
  expect_case(
      {"rivals", p.build(), nodes_of(3), {{first, 1, 1, 7}, {second, 1, 4, 10}, {back, 1, 1, 7}}});
}

TEST(ScaleUp, HasNothingThatIsANics) {
  Program p(2);
  const ChannelId channel = p.channel(0, 1);
  const OpId put = p.put(channel, 20'000);
  const OpId get = p.get(channel, 10'000);
  const OpId small = p.put(channel, 1'000);
  const OpId next = p.put(channel, 1'000);
  const OpId fetch = p.fetch_add(channel, 0);
  const sched::Schedule schedule = p.build();
  Platform platform = nodes_of(2);
  platform.gap = us(6);
  platform.nic_read = us(7);
  platform.framing = {1'500, 90, 8, 10};
  platform.pcie = {{1'000'000'000}, 256, 24};
  platform.node.threads = platform.node.threads_per_qp = 2;
  platform.node.qp_sharer = us(9);
  platform.node.cpu_atomic = us(4);
  // The get's request arrives at 2.5, and its answer takes 1 us and the way back. A CPU serves the
  // atomic: from 5.5 on, until 9.5, when 8 bytes go back.
  const std::vector<testing::Seen> expected = {{put, 1, 1, 6},
                                               {get, 2, 2.5, 6},
                                               {small, 3, 3, 6.1},
                                               {next, 4, 4, 7.1},
                                               {fetch, 5, 9.5, 12.0008}};
  expect_case({"plain", schedule, platform, expected});
  platform.pcie = {};
  platform.ack_bytes = 4;
  expect_case({"with acknowledgements", schedule, platform, expected});
}

TEST(ScaleUp, LeavesWhatARankSendsItselfToMemory) {
  Program p(2);
  const OpId own = p.put(p.channel(0, 0), 10'000);
  const OpId other = p.put(p.channel(0, 1), 10'000);
  // 2000 bytes a microsecond in memory, and 0.1 us each way.
  expect_case({"own", p.build(), nodes_of(2), {{own, 1, 1, 8.2}, {other, 2, 2, 6}}});
}

TEST(ScaleUp, FairPortsShare) {
  Program p(3);
  const OpId first = p.put(p.channel(0, 2), 30'000);
  const OpId second = p.put(p.channel(1, 2), 30'000);
  const sched::Schedule schedule = p.build();
  Platform platform = nodes_of(3);
  platform.nic = machine::NicDiscipline::kFair;
  const Trace flows = analysis::run_flows({schedule, platform});
  for (const OpId op : {first, second}) EXPECT_NEAR(flows.ops[op.value].done_s, 10e-6, 1e-15);
  EXPECT_TRUE(analysis::run_events({schedule, platform}).contended);
  // Of the floor each has its bytes' share: 6 us, and what is before and after them.
  EXPECT_NEAR(analysis::makespan_floor_s({schedule, platform}), 10e-6, 1e-15);
}

// Where all ranks are on one node, they are hosts of a star of that rate and latency, bit by bit:
// without gaps and packets, and with atomics that a CPU serves.
TEST(ScaleUp, OfOneNodeIsAStar) {
  int waited = 0;
  for (std::uint32_t seed = 0; seed < testing::cases(200u) && !HasFailure(); ++seed) {
    Dice dice(seed);
    const std::uint32_t ranks = 2 + dice.below(6);
    Program p(ranks);
    for (std::uint32_t i = 2 + dice.below(30); i != 0; --i) {
      const std::uint32_t a = dice.below(ranks);
      const std::uint32_t b = (a + 1 + dice.below(ranks - 1)) % ranks;
      const ChannelId channel = p.channel(a, b);
      const auto bytes = dice.pick<std::uint64_t>({0, 8, 700, 4'097, 30'000});
      switch (dice.below(4)) {
        case 0:
          p.recv(channel, bytes);
          p.send(channel, bytes);
          break;
        case 1:
          p.put(channel, bytes);
          break;
        case 2:
          p.get(channel, bytes);
          break;
        default:
          p.fetch_add(channel, 0);
      }
    }
    const sched::Schedule schedule = p.build();
    Platform star = testing::random_platform(
        dice, dice.one_in(3) ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial);
    Platform node = star;
    star.gap = {};
    star.framing = {};
    node.node.ranks = ranks;
    node.node.scale_up = {star.rate, star.latency};
    node.node.cpu_atomic = star.atomic_service;
    node.rate = {1'000'000};
    node.latency = us(777);
    node.atomic_service = us(555);
    const std::string what = testing::sample_text(seed, star);
    waited += testing::expect_same_run(analysis::run_events({schedule, star}),
                                       analysis::run_events({schedule, node}), what);
    testing::expect_same_run(analysis::run_flows({schedule, star}),
                             analysis::run_flows({schedule, node}), what);
  }
  EXPECT_GT(waited, testing::cases(200) / 2);
}

TEST(ScaleUp, HasPortsAndLinksWithNames) {
  const machine::Wiring wiring(nodes_of(2), 4);
  EXPECT_EQ(wiring.nic_count(), 2 + 4u);
  EXPECT_EQ(wiring.nic_name(machine::NicId(1)), "host-1");
  EXPECT_EQ(wiring.nic_name(machine::NicId(4)), "host-1.scale-up-0");
  EXPECT_TRUE(wiring.is_scale_up_port(machine::NicId(2)));
  EXPECT_FALSE(wiring.is_scale_up_port(machine::NicId(1)));
  const machine::Route route = wiring.route(RankId(2), RankId(3));
  ASSERT_EQ(route.links.size(), 2u);
  EXPECT_EQ(wiring.links()[route.links[0].value].name, "host-1.scale-up-0.out");
  EXPECT_EQ(wiring.links()[route.links[1].value].name, "host-1.scale-up-1.in");
  EXPECT_EQ(route.latency, us(0.5));
  EXPECT_EQ(wiring.links()[0].name, "host-0.out");
}

// Two messages within a node keep their order at the port, and slack has the arc.
TEST(ScaleUp, ThePortsOfTheFrozenOrderAreTheirs) {
  Program p(3);
  const OpId first = p.put(p.channel(0, 2), 10'000);
  p.put(p.channel(1, 2), 30'000);
  const sched::Schedule schedule = p.build();
  Platform platform = nodes_of(3);
  platform.gap = us(6);
  const auto float_us = [&] {
    const Trace trace = analysis::run_events({schedule, platform});
    return analysis::timed_slack({schedule, platform}, trace).total_float_s[first.value] * 1e6;
  };
  EXPECT_NEAR(float_us(), 0, 1e-9);
  platform.node.scale_up = {};
  // In memory they share nothing: 15 us and 5.
  EXPECT_NEAR(float_us(), 10, 1e-9);
}

TEST(ScaleUp, ItsLinksAreCountedAndUpgraded) {
  Program p(4);
  const OpId within = p.put(p.channel(0, 1), 40'000);
  p.after({within}, p.put(p.channel(0, 1), 40'000));
  const OpId across = p.put(p.channel(1, 2), 10'000);
  const sched::Schedule schedule = p.build();
  const Platform platform = nodes_of(2);
  const machine::Setting setting(schedule, platform);
  const machine::Paths paths(setting);
  const Trace trace = analysis::run_events(setting);
  // 1 + 4 + 1 + 2 = 8, and as much again; the other way takes 1 + 10 + 6 + 2.
  EXPECT_NEAR(trace.ops[across.value].done_s, 19e-6, 1e-15);
  const auto link = setting.wiring.find_link("host-0.scale-up-0.out");
  ASSERT_TRUE(link);
  const auto loads = analysis::link_load(setting, paths, trace);
  EXPECT_EQ(loads[link->value].bytes, 80'000u);
  EXPECT_NEAR(loads[link->value].busy_s, 8e-6, 1e-15);
  EXPECT_EQ(loads[setting.wiring.find_link("host-0.out")->value].bytes, 10'000u);
  machine::DelayPlan plan;
  plan.link_rates.push_back({"host-0.scale-up-1.in", {8'000'000'000}, us(0)});
  // At a tenth of the rate: 1 + 40 + 1 + 2, twice.
  EXPECT_NEAR(analysis::run_flows({schedule, platform, plan}).makespan_s(), 88e-6, 1e-15);
  EXPECT_NEAR(analysis::run_events({schedule, platform, plan}).makespan_s(), 88e-6, 1e-15);
}

// The gap and the latency between NICs are no figures of what stays within, and its links are.
TEST(ScaleUp, ToleranceVariesItsLinks) {
  Program p(2);
  const ChannelId channel = p.channel(0, 1);
  p.put(channel, 20'000);
  p.put(channel, 30'000);
  const sched::Schedule schedule = p.build();
  Platform platform = nodes_of(2);
  platform.gap = us(6);
  const machine::Setting setting(schedule, platform);
  const Trace trace = analysis::run_events(setting);
  EXPECT_NEAR(trace.makespan_s(), 9e-6, 1e-15);
  EXPECT_NEAR(analysis::timed_slack(setting, trace).makespan_s, 9e-6, 1e-15);
  const auto slope_of = [&](analysis::Parameter parameter) {
    const auto found = analysis::tolerance(setting, trace, std::span(&parameter, 1)).front();
    EXPECT_NEAR(found.makespan_s, 9e-6, 1e-15);
    return found.slopes().after;
  };
  using Kind = analysis::Parameter::Kind;
  EXPECT_EQ(slope_of({Kind::kGap}), 0);
  EXPECT_EQ(slope_of({Kind::kLatency}), 0);
  EXPECT_EQ(slope_of({Kind::kPost}), 1);
  EXPECT_EQ(slope_of({Kind::kCompletion}), 1);
  const auto link = [&](const char* name) { return *setting.wiring.find_link(name); };
  EXPECT_EQ(slope_of({Kind::kByteTime, link("host-0.scale-up-1.in")}), 50'000);
  EXPECT_EQ(slope_of({Kind::kByteTime, link("host-0.scale-up-1.out")}), 0);
  EXPECT_EQ(slope_of({Kind::kByteTime, link("host-0.out")}), 0);
}

TEST(ScaleUp, WhatIfHasItsLinks) {
  Program p(4);
  p.put(p.channel(0, 1), 40'000);
  p.put(p.channel(2, 0), 1'000);
  const sched::Schedule schedule = p.build();
  const Platform platform = nodes_of(2);
  const machine::Setting setting(schedule, platform);
  const analysis::LinkUpgrades found = analysis::link_upgrades(setting, analysis::kFlowEngine, 1);
  EXPECT_NEAR(found.makespan_s, 10e-6, 1e-15);
  bool seen = false;
  for (const analysis::LinkUpgrade& upgrade : found.links) {
    if (setting.wiring.links()[upgrade.link.value].name != "host-0.scale-up-0.out") continue;
    seen = true;
    // The way within takes 1 + 4 + 1 + 2, and the other one longer.
    EXPECT_NEAR(upgrade.twice_s, 10e-6, 1e-15);
    EXPECT_NEAR(upgrade.slower_s, 10e-6, 1e-15);
  }
  EXPECT_TRUE(seen);
  const sched::Schedule alone = [] {
    Program only(2);
    only.put(only.channel(0, 1), 40'000);
    return only.build();
  }();
  const machine::Setting within(alone, platform);
  for (const analysis::LinkUpgrade& upgrade :
       analysis::link_upgrades(within, analysis::kFlowEngine, 1).links) {
    const std::string& name = within.wiring.links()[upgrade.link.value].name;
    if (name != "host-0.scale-up-0.out" && name != "host-0.scale-up-1.in") continue;
    EXPECT_NEAR(upgrade.twice_s, 8e-6, 1e-15) << "the other port has no more";
    EXPECT_NEAR(upgrade.slower_s, 4e-6 + 4e-6 / 0.99, 1e-15);
    EXPECT_NEAR(upgrade.nearer_s, 8e-6 - sched::seconds(upgrade.nearer), 1e-15);
  }
}

// Half of what two nodes of eight send goes through eight NICs, the rest stays within.
TEST(ScaleUp, AHierarchicalAllreduceTakesTheTimeOfItsBytes) {
  constexpr double kBytes = 64e6;
  constexpr double kNic = 50e9;       // bytes per second, 400 Gb/s
  constexpr double kScaleUp = 450e9;  // 3600 Gb/s
  Platform platform = machine::parse_platform_spec(
      "star:rate=400Gbps,latency=0s,copy_rate=100000000Gbps,ranks_per_node=8,rails=8,scale_up_"
      "rate=3600Gbps,scale_up_latency=0s");
  const auto run_s = [&](const std::string& by) {
    const sched::Schedule schedule = compile(
        sched::parse_spec("allreduce:ranks=16,bytes=64MB,block=4MB,in-flight=0,ready=none," + by));
    const double s = analysis::run_events({schedule, platform}).makespan_s();
    EXPECT_NEAR(analysis::run_flows({schedule, platform}).makespan_s(), s, 1e-9 * s) << by;
    EXPECT_LE(analysis::makespan_floor_s({schedule, platform}), s * (1 + 1e-12)) << by;
    return s;
  };
  // Seven eighths of all bytes pass each port twice, and half of an eighth each NIC, twice. Nothing
  // of a share of one block overlaps.
  EXPECT_NEAR(run_s("by=hierarchical,per-node=8"),
              2 * 7 / 8.0 * kBytes / kScaleUp + kBytes / 8 / kNic, 1e-9);
  // Fifteen sixteenths pass the NIC between the nodes, twice.
  EXPECT_NEAR(run_s("by=ring"), 2 * 15 / 16.0 * kBytes / kNic, 1e-9);
}

TEST(ScaleUp, CostsOfIdleOperationsAreThoseOfARun) {
  Program p(2);
  p.get(p.channel(0, 1), 1'000);
  Platform platform = nodes_of(2);
  platform.nic_read = us(7);
  const machine::Wiring wiring(platform, 2);
  const analysis::ComponentCosts costs =
      analysis::idle_costs(platform, wiring, RankId(0), RankId(1), {}, 1'000);
  EXPECT_NEAR(costs.get_s, analysis::run_events({p.build(), platform}).makespan_s(), 1e-15);
  EXPECT_NEAR(costs.get_s, 4.1e-6, 1e-15);
}

TEST(HostFigures, GiveHostsTheirRatesAndLatencies) {
  Program p(4);
  const OpId first = p.put(p.channel(0, 1), 10'000);
  const OpId into = p.put(p.channel(1, 2), 10'000);
  const OpId slow = p.put(p.channel(2, 3), 10'000);
  const sched::Schedule schedule = p.build();
  Platform platform = testing::round_platform();
  platform.hosts.rate = machine::parse_host_rates("2..9:4Gbps", "host_rate");
  platform.hosts.latency = machine::parse_host_times("3:5us", "host_latency");
  // The third takes 20 us, and 8 each way. The second has the slower NIC at its end.
  const MessageCase c{
      "differ", schedule, platform, {{first, 1, 1, 19}, {into, 1, 1, 29}, {slow, 1, 1, 39}}};
  expect_case(c);
  const auto longest = analysis::longest_path({schedule, platform});
  ASSERT_TRUE(longest);
  testing::expect_seen(c, *longest);
}

TEST(HostFigures, AreOfTheHostsThatRanksArePlacedOn) {
  Platform platform = machine::parse_platform_spec(
      "two-level:racks=2,hosts=2,rate=8Gbps,host_rate=2..3:4Gbps,placement=round-robin");
  const machine::Wiring wiring(platform, 4);
  EXPECT_EQ(wiring.host_name(RankId(1)), "host-2");
  const auto rate_of = [&](std::uint32_t rank) {
    const machine::Route route = wiring.route(RankId(rank), RankId(0));
    return wiring.links()[route.links.front().value].rate.bits_per_second;
  };
  EXPECT_EQ(rate_of(1), 4'000'000'000u);
  EXPECT_EQ(rate_of(2), 8'000'000'000u);
}

TEST(HostFigures, ScaleUpPortsHaveTheirHostsRate) {
  Program p(4);
  const OpId fast = p.put(p.channel(0, 1), 20'000);
  const OpId slow = p.put(p.channel(2, 3), 20'000);
  Platform platform = nodes_of(2);
  platform.hosts.scale_up_rate = machine::parse_host_rates("1:40Gbps", "host_scale_up_rate");
  expect_case({"generations", p.build(), platform, {{fast, 1, 1, 6}, {slow, 1, 1, 8}}});
}

TEST(HostFigures, AreNoneOfTheStreamsBusiness) {
  const sched::Spec spec = sched::parse_spec("chain:ranks=4,bytes=1MiB,block=64KiB");
  Platform platform = machine::load_platform("fractus:host_rate=2:10Gbps");
  EXPECT_EQ(analysis::why_not_streamed(spec, platform, {}), "hosts differ");
}

}  // namespace
}  // namespace slackline
