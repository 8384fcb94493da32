// What the analyses make of messages that are sprayed over several ways, or told apart by channel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>

#include "analysis/advice/makespan_floor.h"
#include "analysis/advice/structure_cost.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/slack/fixed_order.h"
#include "analysis/slack/link_upgrades.h"
#include "analysis/slack/may_share.h"
#include "analysis/slack/run_matrices.h"
#include "analysis/slack/tolerance.h"
#include "base/error.h"
#include "tests/support/error_of.h"
#include "tests/support/permutation.h"

namespace slackline::analysis {
namespace {

using machine::Paths;
using machine::Platform;
using machine::Setting;
using sched::RankId;
using ::testing::HasSubstr;
using testing::Pairs;

// Five leaves of four hosts, and four switches above; the hosts of a leaf, each to the first host
// of another leaf, which d-mod-k puts on one port.
const Pairs kSameDigit = {{0, 4}, {1, 8}, {2, 12}, {3, 16}};
Platform tree(const std::string& more) {
  return machine::parse_platform_spec("fat-tree:down=4x5,up=1x4,rate=80Gbps,latency=1us" + more);
}

TEST(RoutedAnalyses, SprayedMessagesShareNoLink) {
  const sched::Schedule schedule = testing::permutation(20, kSameDigit, 10'000'000);
  const Platform own = tree("");
  const Setting meeting(schedule, own);
  const auto link = link_that_may_be_shared(meeting, Paths(meeting));
  ASSERT_TRUE(link);
  EXPECT_EQ(meeting.wiring.links()[link->value].name, "switch-1-0.up-0");
  EXPECT_EQ(fixed_order(meeting, run_flows(meeting)).contested, Contested::kLink);
  const Platform spray = tree(",routing=spray");
  const Setting apart(schedule, spray);
  EXPECT_FALSE(link_that_may_be_shared(apart, Paths(apart)));
  EXPECT_TRUE(fixed_order(apart, run_events(apart)).one_delay_costs_at_most_itself());
  // Links of a quarter of the rate have room for one message, not for two.
  const Platform slow = tree(",link_rate=20Gbps,routing=spray");
  const Setting crowded(schedule, slow);
  EXPECT_TRUE(link_that_may_be_shared(crowded, Paths(crowded)));
  const sched::Schedule one = testing::permutation(20, {{0, 4}}, 10'000'000);
  const Setting alone(one, slow);
  EXPECT_FALSE(link_that_may_be_shared(alone, Paths(alone)));
}

// Of four messages a quarter of each passes a link: as much as one, or at a quarter of the rate
// four.
TEST(RoutedAnalyses, FloorsCountParts) {
  const sched::Schedule schedule = testing::permutation(20, kSameDigit, 10'000'000);
  for (const auto& [more, wire_s] : {std::pair("", 4e-3), std::pair(",routing=spray", 1e-3),
                                     std::pair(",routing=spray,link_rate=20Gbps", 4e-3)}) {
    const Platform platform = tree(more);
    const Setting setting(schedule, platform);
    EXPECT_NEAR(makespan_floor_s(setting), wire_s + 2e-6, 1e-12) << more;
    EXPECT_NEAR(run_flows(setting).makespan_s(), wire_s + 2e-6, 1e-12) << more;
  }
}

TEST(RoutedAnalyses, TolerancesKnowNoByteTimeOfSprayedLinks) {
  const sched::Schedule schedule = testing::permutation(20, kSameDigit, 10'000'000);
  const Platform platform = tree(",routing=spray");
  const Setting setting(schedule, platform);
  const sched::Trace trace = run_events(setting);
  const Parameter latency{.kind = Parameter::Kind::kLatency};
  EXPECT_EQ(tolerance(setting, trace, std::span(&latency, 1)).front().slopes().after, 2);
  const Parameter byte{.kind = Parameter::Kind::kByteTime};
  EXPECT_THAT(
      testing::error_of<Unsupported>([&] { tolerance(setting, trace, std::span(&byte, 1)); }),
      HasSubstr("from rank 0 to rank 4 are sprayed over several ways"));
}

// The network with its routes written out runs as the network itself.
TEST(RoutedAnalyses, UpgradesKeepPartsAndChannels) {
  for (const std::string routing : {"spray", "ecmp:3", "valiant:3"}) {
    const Platform platform = tree(",nic=fair,link_rate=40Gbps,routing=" + routing);
    const sched::Schedule schedule =
        testing::permutation(20, {{0, 4}, {0, 4}, {1, 8}, {2, 12}, {4, 0}}, 10'000'000);
    const Setting setting(schedule, platform);
    const LinkUpgrades found = link_upgrades(setting, kFlowEngine, 1);
    EXPECT_EQ(found.makespan_s, run_flows(setting).makespan_s()) << routing;
  }
}

TEST(RoutedAnalyses, IncidenceHasParts) {
  const sched::Schedule schedule = testing::permutation(20, {{0, 4}, {1, 2}}, 1'000);
  const Platform platform = tree(",routing=spray");
  const Setting setting(schedule, platform);
  const SparseRows rows = link_incidence(setting);
  const auto at = [&](int op, const char* link) {
    return rows.coeff(op, static_cast<int>(setting.wiring.find_link(link)->value));
  };
  EXPECT_EQ(at(0, "host-0.out"), 1);
  EXPECT_EQ(at(0, "switch-1-0.up-2"), 0.25);
  EXPECT_EQ(at(0, "switch-1-1.down-3"), 0.25);
  EXPECT_EQ(at(1, "host-1.out"), 1);
  EXPECT_EQ(at(1, "switch-1-0.up-2"), 0);
}

// Which of them a message takes shows in its run.
TEST(RoutedAnalyses, IncidenceKnowsNoAdaptiveWays) {
  const sched::Schedule schedule = testing::permutation(20, kSameDigit, 1'000);
  const Platform platform = tree(",routing=adaptive");
  const Setting setting(schedule, platform);
  EXPECT_THROW(link_incidence(setting), Unsupported);
}

// A call's messages alone have the rate of all ways together.
TEST(RoutedAnalyses, IdleCallsHaveAllWays) {
  const auto put_s = [](const Platform& platform) {
    return idle_costs(platform, machine::Wiring(platform, 20), RankId(0), RankId(4)).put_s;
  };
  EXPECT_EQ(put_s(tree(",link_rate=20Gbps,routing=spray")), put_s(tree("")));
  EXPECT_GT(put_s(tree(",link_rate=20Gbps")), put_s(tree("")));
}

}  // namespace
}  // namespace slackline::analysis
