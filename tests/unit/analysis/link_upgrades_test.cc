// What a better link saves, against sums by hand and against platforms that have it.
#include "analysis/slack/link_upgrades.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/flow_engine.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"
#include "tests/support/error_of.h"
#include "tests/support/permutation.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::Platform;
using machine::Wiring;
using sched::Schedule;

const LinkUpgrade& of(const LinkUpgrades& upgrades, const Wiring& wiring, const std::string& link) {
  const auto id = wiring.find_link(link);
  const auto found = std::find_if(upgrades.links.begin(), upgrades.links.end(),
                                  [&](const LinkUpgrade& u) { return id && u.link == *id; });
  EXPECT_NE(found, upgrades.links.end()) << link;
  return *found;
}

// One message of 1 MB from rack to rack, over an uplink of 50 Gb/s.
TEST(LinkUpgrades, AreSumsOfOneMessage) {
  testing::Program program(2);
  const sched::ChannelId channel = program.channel(0, 1);
  program.send(channel, 1'000'000);
  program.recv(channel, 1'000'000);
  const Schedule schedule = program.build();
  const Platform platform = machine::load_platform(
      "two-level:racks=2,hosts=4,oversubscription=8,placement=round-robin,latency=3us");
  const Wiring wiring(platform, 2);
  const LinkUpgrades found = link_upgrades({schedule, platform, wiring, {}, {}}, kFlowEngine, 2);
  // The way there, and its acknowledgement.
  const auto makespan_s = [](double gigabits, double latency_us) {
    return 1e6 / (gigabits * 1e9 / 8) + latency_us * 1e-6;
  };
  EXPECT_NEAR(found.makespan_s, makespan_s(50, 6), 1e-14);
  EXPECT_EQ(found.links.size(), 8u) << "of either way two links of hosts and two of racks";
  // Either of two links as slow is as slow as ever.
  const LinkUpgrade& up = of(found, wiring, "rack-0.up");
  EXPECT_NEAR(up.faster_s, found.makespan_s, 1e-14);
  EXPECT_NEAR(up.twice_s, found.makespan_s, 1e-14);
  EXPECT_EQ(up.nearer, sched::Time{10'000});
  EXPECT_NEAR(up.nearer_s, makespan_s(50, 5.99), 1e-14);

  // Where one is the slowest.
  std::vector<machine::Link> links(wiring.links().begin(), wiring.links().end());
  const machine::LinkId slow = *wiring.find_link("rack-0.up");
  links[slow.value].rate = {25'000'000'001};
  std::vector<Wiring::FixedRoute> routes;
  for (const auto& [src, dst] : {std::pair(0u, 1u), std::pair(1u, 0u)}) {
    const sched::RankId from(src);
    const sched::RankId to(dst);
    routes.push_back({from, to, wiring.route(from, to)});
    routes.back().route.latency = sched::Time{src == 0 ? 4'000 : 0};
  }
  const Wiring slower({"a", "b"}, links, std::move(routes));
  const LinkUpgrades again = link_upgrades({schedule, platform, slower, {}, {}}, kFlowEngine, 1);
  EXPECT_NEAR(again.makespan_s, makespan_s(25.000000001, 0.004), 1e-14);
  const LinkUpgrade& best = of(again, slower, "rack-0.up");
  EXPECT_NEAR(best.faster_s, makespan_s(25.250000002, 0.004), 1e-14);
  EXPECT_NEAR(best.twice_s, makespan_s(50, 0.004), 1e-13) << "the rack's other link is next";
  EXPECT_EQ(best.nearer, sched::Time{4'000}) << "no way takes less than no time";
  EXPECT_NEAR(best.nearer_s, makespan_s(25.000000001, 0), 1e-14);
  EXPECT_EQ(of(again, slower, "rack-1.up").nearer, sched::Time{0});
}

// The same network with a rate of its own for each link.
Wiring uneven(const Wiring& wiring, testing::Dice& dice) {
  std::vector<machine::Link> links(wiring.links().begin(), wiring.links().end());
  for (machine::Link& link : links) link.rate = {10'000'000'000ull * (1 + dice.below(10))};
  std::vector<Wiring::FixedRoute> routes;
  for (std::uint32_t s = 0; s < wiring.rank_count(); ++s) {
    for (std::uint32_t d = 0; d < wiring.rank_count(); ++d) {
      const sched::RankId src(s);
      const sched::RankId dst(d);
      if (s != d) routes.push_back({src, dst, wiring.route(src, dst)});
    }
  }
  return wiring.with(std::move(links), std::move(routes));
}

TEST(LinkUpgrades, AreRunsWithTheLinkChangedByAPlan) {
  testing::Dice dice(5);
  const Schedule schedule =
      compile(sched::parse_spec("binomial-pipeline:ranks=8,bytes=1MiB,block=128KiB"));
  for (const char* more : {"nic=serial", "nic=fair", "mtu=1500B,packet_overhead=90B,coding=8/10"}) {
    const Platform platform = machine::load_platform(
        std::string("two-level:racks=2,hosts=4,oversubscription=4,o_post=100ns,") + more);
    const Wiring wiring = uneven(Wiring(platform, schedule.rank_count()), dice);
    const LinkUpgrades found = link_upgrades({schedule, platform, wiring, {}, {}}, kFlowEngine, 2);
    EXPECT_EQ(found.makespan_s, run_flows({schedule, platform, wiring}).makespan_s());
    int gains = 0;
    for (const LinkUpgrade& upgrade : found.links) {
      const machine::Link& link = wiring.links()[upgrade.link.value];
      for (const auto& [percent, makespan_s] :
           {std::pair(200, upgrade.twice_s), std::pair(99, upgrade.slower_s)}) {
        machine::DelayPlan plan;
        plan.link_rates.push_back(
            {link.name, {link.rate.bits_per_second / 100 * percent}, sched::Time{0}});
        EXPECT_NEAR(makespan_s, run_flows({schedule, platform, wiring, plan}).makespan_s(),
                    1e-12 * found.makespan_s)
            << link.name;
      }
      if (upgrade.twice_s < 0.999 * found.makespan_s) ++gains;
    }
    EXPECT_GT(gains, 0);
  }
}

// The network with its routes written out runs as the network itself, and with another rate of a
// link as with a plan that says so.
TEST(LinkUpgrades, KeepSwitchesAndAdaptiveWays) {
  const std::pair<std::string, std::string> cases[] = {
      {"switch-multicast:ranks=5,bytes=40MB,block=10MB",
       "star:rate=80Gbps,latency=4us,gap=2us,o_post=1us,o_complete=3us,switches=switch"},
      {"switch-allreduce:ranks=11,fan-out=4x2,bytes=4MB,block=1MB",
       "two-level:racks=2,hosts=4,nic=fair,rate=80Gbps,oversubscription=4,latency=1us,"
       "switches=rack-0..1+core"},
      {"circulant:ranks=16,bytes=4MB,block=300KB",
       "fat-tree:down=4x4,up=1x2,rate=80Gbps,link_rate=50Gbps,latency=1us,routing=adaptive"}};
  for (const auto& [spec, text] : cases) {
    const Schedule schedule = compile(sched::parse_spec(spec));
    const Platform platform = machine::parse_platform_spec(text);
    const machine::Setting setting(schedule, platform);
    const LinkUpgrades found = link_upgrades(setting, kFlowEngine, 2);
    EXPECT_EQ(found.makespan_s, run_flows(setting).makespan_s()) << text;
    int others = 0;
    for (const LinkUpgrade& upgrade : found.links) {
      const machine::Link& link = setting.wiring.links()[upgrade.link.value];
      machine::DelayPlan plan;
      plan.link_rates.push_back({link.name, {link.rate.bits_per_second * 2}, sched::Time{0}});
      const double makespan_s = run_flows(setting.with(plan)).makespan_s();
      EXPECT_NEAR(upgrade.twice_s, makespan_s, 1e-12 * makespan_s) << text << " " << link.name;
      if (upgrade.slower_s != found.makespan_s) ++others;
    }
    EXPECT_GT(others, 0) << text;
  }
}

// Of two messages one finds the first of its two ways taken, and goes the other. Which the slow one
// took, which is the last to end, shows where a link that slows down later holds it up.
TEST(LinkUpgrades, NearerIsTheWayThatAMessageTakes) {
  const Schedule schedule = testing::permutation(20, {{0, 4}, {1, 8}}, 10'000'000);
  const Platform platform = machine::parse_platform_spec(
      "fat-tree:down=4x5,up=1x2,rate=80Gbps,latency=1us,routing=adaptive");
  machine::DelayPlan slow;
  slow.pairs.push_back({sched::RankId(1), sched::RankId(8), sched::Rate{40'000'000'000}});
  const machine::Setting setting(schedule, platform, slow);
  const LinkUpgrades found = link_upgrades(setting, kFlowEngine, 1);
  EXPECT_NEAR(found.makespan_s, 2e-3 + 2e-6, 1e-14);
  int taken = 0;
  for (const char* link : {"switch-1-0.up-0", "switch-1-0.up-1"}) {
    machine::DelayPlan later = slow;
    later.link_rates.push_back({link, {10'000'000'000}, testing::us(1'500)});
    const bool held_up = run_flows(setting.with(later)).makespan_s() > 3e-3;
    EXPECT_NEAR(of(found, setting.wiring, link).nearer_s, 2e-3 + (held_up ? 1.99e-6 : 2e-6), 1e-14)
        << link;
    taken += held_up ? 1 : 0;
  }
  EXPECT_EQ(taken, 1);
}

TEST(LinkUpgrades, RefuseARunWithoutEnd) {
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=3,bytes=300KB,block=100KB"));
  const Platform platform = machine::load_platform("star:rate=80Gbps");
  const Wiring wiring(platform, schedule.rank_count());
  machine::DelayPlan failing;
  failing.failures.push_back({"", sched::RankId(1), sched::Time{1'000}});
  EXPECT_THAT(testing::error_of([&] {
                link_upgrades({schedule, platform, wiring, failing, {}}, kFlowEngine, 1);
              }),
              ::testing::HasSubstr("never ends"));
}

}  // namespace
}  // namespace slackline::analysis
