// What routing does to makespans: closed forms by hand, in every engine that knows links.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "analysis/advice/link_capacity.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/link_load.h"
#include "base/error.h"
#include "machine/paths.h"
#include "sim/simgrid_engine.h"
#include "tests/support/error_of.h"
#include "tests/support/permutation.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::Platform;
using machine::Setting;
using machine::Wiring;
using sched::RankId;
using testing::Pairs;

// Five leaves of four hosts, and four switches above.
constexpr const char* kTree = "fat-tree:down=4x5,up=1x4,rate=80Gbps,latency=1us";
constexpr std::uint64_t kBytes = 10'000'000;
constexpr double kWire_s = 1e-3;  // of one message at the NIC's rate

// The four hosts of a leaf, each to the first host of another leaf.
const Pairs kSameDigit = {{0, 4}, {1, 8}, {2, 12}, {3, 16}};

// Makespans over that of one message alone on links as fast as NICs, which is kWire_s and what
// everybody has before and after.
void expect_more_s(const std::string& spec, const Pairs& pairs, double more_s,
                   const DelayPlan& plan = {}) {
  const Platform platform = machine::parse_platform_spec(spec);
  const std::uint32_t ranks = 20;
  const sched::Schedule schedule = testing::permutation(ranks, pairs, kBytes);
  const Wiring wiring(platform, ranks);
  const double rest_s = 2e-6;  // there, and the acknowledgement
  const Setting setting(schedule, platform, wiring, plan);
  const sched::Trace flows = analysis::run_flows(setting);
  const double expected_s = kWire_s + rest_s + more_s;
  EXPECT_NEAR(flows.makespan_s(), expected_s, 1e-9 * expected_s) << spec;
  // SimGrid rounds by 2 ps for each message that was waited for.
  EXPECT_NEAR(sim::run_simgrid(setting).makespan_s(), expected_s, 2.5e-9 * expected_s) << spec;
  analysis::require_within_capacity(setting, machine::Paths(setting), flows);
}

TEST(RoutedRuns, DestinationsOfOneDigitWaitForEachOtherWithDModK) {
  expect_more_s(kTree, {{0, 4}}, 0);
  expect_more_s(kTree, kSameDigit, 3 * kWire_s);
}

TEST(RoutedRuns, SprayedTheyDoNot) {
  const std::string spec = kTree + std::string(",routing=spray");
  expect_more_s(spec, kSameDigit, 0);
  // Then nothing is shared, so the event engine is exact too.
  const Platform platform = machine::parse_platform_spec(spec);
  const sched::Schedule schedule = testing::permutation(20, kSameDigit, kBytes);
  const sched::Trace events = analysis::run_events({schedule, platform});
  EXPECT_FALSE(events.contended);
  EXPECT_NEAR(events.makespan_s(), kWire_s + 2e-6, 1e-12);
}

// A link that several hash to is shared: as many times a message's time as there are on it.
TEST(RoutedRuns, EcmpCostsTheFullestLink) {
  std::map<int, int> seen;
  for (int seed = 0; seed < 40; ++seed) {
    const std::string spec = kTree + (",routing=ecmp:" + std::to_string(seed));
    const Wiring wiring(machine::parse_platform_spec(spec), 20);
    std::map<machine::LinkId, int> messages;
    int most = 0;
    for (const auto& [src, dst] : kSameDigit) {
      for (const machine::LinkId link : wiring.route(RankId(src), RankId(dst)).links) {
        most = std::max(most, ++messages[link]);
      }
    }
    ++seen[most];
    expect_more_s(spec, kSameDigit, (most - 1) * kWire_s);
  }
  EXPECT_GT(seen[1], 0);
  EXPECT_GT(seen[2], 0);
  EXPECT_GT(seen[3], 0);
}

// Links of half the rate: one way has half of the NIC's rate, four ways have twice as much.
TEST(RoutedRuns, SprayUsesAllWaysAtOnce) {
  const std::string slow = kTree + std::string(",link_rate=40Gbps");
  expect_more_s(slow, {{0, 4}}, kWire_s);
  expect_more_s(slow + ",routing=spray", {{0, 4}}, 0);
  // Two of a leaf have it whole; four have 160 Gb/s together, half of what they could send.
  expect_more_s(slow + ",routing=spray", {{0, 4}, {1, 8}}, 0);
  expect_more_s(slow + ",routing=spray", kSameDigit, kWire_s);
  // Of one of three levels half a message goes over each link of the leaf, and a quarter over each
  // of the next level's; a neighbour that stays below that shares the leaf's links alone.
  const std::string levels = "fat-tree:down=2x2x5,up=1x2x2,rate=80Gbps,latency=1us,routing=spray";
  expect_more_s(levels, {{0, 4}, {1, 2}}, 0);
  expect_more_s(levels + ",link_rate=40Gbps", {{0, 4}, {1, 2}}, kWire_s);
  expect_more_s(levels + ",link_rate=20Gbps", {{0, 4}, {8, 12}}, kWire_s);
}

// One of four ways gets a sixteenth of the NIC's rate after half a message: a quarter of each
// message passes it, so all have a quarter of the rate.
TEST(RoutedRuns, TheSlowestWayHoldsASprayedMessageBack) {
  DelayPlan plan;
  plan.link_rates.push_back(
      {"switch-1-0.up-1", sched::Rate{5'000'000'000}, sched::Time{500'000'000}});
  expect_more_s(kTree + std::string(",routing=spray"), {{0, 4}}, 1.5 * kWire_s, plan);
}

// Two channels between two hosts, over links of half the NIC's rate.
TEST(RoutedRuns, ChannelsTakeWaysOfTheirOwnWithEcmp) {
  int together = 0;
  int apart = 0;
  for (int seed = 0; seed < 20; ++seed) {
    const std::string spec =
        kTree + (",nic=fair,link_rate=40Gbps,routing=ecmp:" + std::to_string(seed));
    const Wiring wiring(machine::parse_platform_spec(spec), 20);
    const bool same = wiring.route(RankId(0), RankId(4), {0}).links ==
                      wiring.route(RankId(0), RankId(4), {1}).links;
    ++(same ? together : apart);
    expect_more_s(spec, {{0, 4}, {0, 4}}, same ? 3 * kWire_s : kWire_s);
    // A pair's own rate is the pair's, whichever way.
    DelayPlan plan;
    plan.pairs.push_back({RankId(0), RankId(4), sched::Rate{20'000'000'000}});
    expect_more_s(spec, {{0, 4}, {0, 4}}, 7 * kWire_s, plan);
  }
  EXPECT_GT(together, 0);
  EXPECT_GT(apart, 0);
}

// The tornado in a ring of 20: 9 links each, all one way round. Valiant's ways use both.
TEST(RoutedRuns, ValiantSharesTheRing) {
  Pairs tornado;
  for (std::uint32_t s = 0; s < 20; ++s) tornado.emplace_back(s, (s + 9) % 20);
  const std::string ring = "torus:dims=20,rate=80Gbps,latency=1us";
  expect_more_s(ring, tornado, 8 * kWire_s);
  // Ties of a ring: everybody to the far side goes up, or half of each message goes each way.
  for (auto& [src, dst] : tornado) dst = (src + 10) % 20;
  expect_more_s(ring, tornado, 9 * kWire_s);
  expect_more_s(ring + ",routing=spray", tornado, 4 * kWire_s);
}

// Minimal ways of a dragonfly's group to the next share one link; Valiant's share what is drawn: of
// twelve messages and those of another group a tenth each.
TEST(RoutedRuns, ValiantSpreadsOverGroups) {
  const std::string spec =
      "dragonfly:groups=12,chassis=1,routers=12,hosts=1,rate=80Gbps,latency=1us";
  Pairs pairs;
  for (std::uint32_t s = 0; s < 144; ++s) pairs.emplace_back(s, (s + 12) % 144);
  const Platform minimal = machine::parse_platform_spec(spec);
  const sched::Schedule schedule = testing::permutation(144, pairs, kBytes);
  EXPECT_NEAR(analysis::run_flows({schedule, minimal}).makespan_s(), 12 * kWire_s + 2e-6, 1e-11);
  for (int seed = 0; seed < 3; ++seed) {
    const Platform valiant =
        machine::parse_platform_spec(spec + ",routing=valiant:" + std::to_string(seed));
    const Setting setting(schedule, valiant);
    const sched::Trace flows = analysis::run_flows(setting);
    EXPECT_NEAR(sim::run_simgrid(setting).makespan_s(), flows.makespan_s(), 5e-9);
    EXPECT_LT(flows.makespan_s(), 10 * kWire_s);
  }
}

TEST(RoutedRuns, LoadsAreWhatPassesEachLink) {
  const Platform platform = machine::parse_platform_spec(kTree + std::string(",routing=spray"));
  const sched::Schedule schedule = testing::permutation(20, {{0, 4}, {1, 8}}, 1'000'001);
  const Setting setting(schedule, platform);
  const machine::Paths paths(setting);
  const auto loads = analysis::link_load(setting, paths, analysis::run_flows(setting));
  const auto of = [&](const char* link) { return loads[setting.wiring.find_link(link)->value]; };
  EXPECT_EQ(of("host-0.out").bytes, 1'000'001u);
  EXPECT_EQ(of("switch-1-0.up-3").bytes, 2 * 250'000u);
  EXPECT_EQ(of("switch-1-0.up-3").wire_bytes, 1'000'001 / 2.0);
  EXPECT_EQ(of("switch-1-0.up-3").messages, 2u);
  EXPECT_EQ(of("switch-1-1.down-0").bytes, 250'000u);
  EXPECT_EQ(of("switch-1-1.up-0").bytes, 0u);
}

TEST(RoutedRuns, SimgridRefusesTooManyWays) {
  const Platform platform =
      machine::parse_platform_spec("fat-tree:down=2x10,up=1x300,rate=80Gbps,routing=spray");
  const sched::Schedule schedule = testing::permutation(20, {{0, 2}}, kBytes);
  const Setting setting(schedule, platform);
  EXPECT_NEAR(analysis::run_flows(setting).makespan_s(), kWire_s + 2e-6, 1e-12);
  EXPECT_EQ(testing::error_of<Unsupported>([&] { sim::run_simgrid(setting); }),
            "routing=spray over 300 ways: SimGrid takes 256; expected another engine");
}

}  // namespace
}  // namespace slackline
