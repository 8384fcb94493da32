// Which NIC a channel takes, and where the NICs of a host are.
#include "machine/rails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "machine/node_count.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/program.h"

namespace slackline::machine {
namespace {

using sched::ChannelId;
using sched::RankId;
using slackline::testing::error_of;
using slackline::testing::Program;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Wiring wiring_of(const std::string& spec, std::uint32_t ranks) {
  return Wiring(parse_platform_spec(spec), ranks);
}

std::vector<std::string> names_of(const Wiring& wiring, const Route& route) {
  std::vector<std::string> names;
  for (const LinkId link : route.links) names.push_back(wiring.links()[link.value].name);
  return names;
}

TEST(Rails, AreFiguresOfAPlatform) {
  const Platform platform = parse_platform_spec("star:rails=8,rail=channel");
  EXPECT_EQ(platform.node.rails.count, 8u);
  EXPECT_EQ(platform.node.rails.rule, RailRule::kChannel);
  EXPECT_THAT(platform.spec(), HasSubstr("rails=8,rail=channel"));
  EXPECT_EQ(parse_platform_spec(platform.spec()).node, platform.node);
  // What every platform has had so far is not written.
  EXPECT_EQ(parse_platform_spec("star:rails=1,rail=rank").spec(),
            parse_platform_spec("star").spec());
  const Platform two = parse_platform_spec(
      "two-level:racks=2,hosts=4,rails=2,rail=pair,rail_wiring=rail-optimized,placement=random:1");
  EXPECT_THAT(two.spec(), HasSubstr("rails=2,rail=pair,rail_wiring=rail-optimized,placement="));
  const Platform file = platform_from_toml(
      "schema = 1\n[network]\ntopology = \"two-level\"\nracks = 2\nhosts = 4\n"
      "rail_wiring = \"rail-optimized\"\n[node]\nrails = 2\nrail = \"pair\"\n",
      "mine.toml");
  EXPECT_EQ(file.node.rails, two.node.rails);
}

TEST(Rails, AreRefusedWhereANetworkHasNone) {
  const auto error = [](const std::string& spec) {
    return error_of([&] { parse_platform_spec(spec); });
  };
  EXPECT_THAT(error("torus:dims=2x2,rails=2"), HasSubstr("torus takes no key 'rails'"));
  EXPECT_THAT(error("simgrid:file=a.xml,rails=2"), HasSubstr("simgrid takes no key 'rails'"));
  EXPECT_THAT(error("star:rails=2,rail_wiring=one-leaf"), HasSubstr("star takes no key"));
  EXPECT_THAT(error("star:rails=0"), HasSubstr("rails"));
  EXPECT_THAT(error("star:rails=257"), HasSubstr("rails"));
  EXPECT_THAT(error("star:rail=stripe"), HasSubstr("expected rank, channel or pair"));
  EXPECT_THAT(error("two-level:racks=1,hosts=1,rail_wiring=x"),
              HasSubstr("expected one-leaf or rail-optimized"));
  EXPECT_THAT(error("fat-tree:down=4x4,up=1x2,rails=3"),
              HasSubstr("3 rails on leaf switches for 4"));
  EXPECT_THAT(error("fat-tree:down=4x3,up=1x2,rails=2,rail_wiring=rail-optimized"),
              HasSubstr("2 rails on 3 leaf switches"));
  EXPECT_THAT(error("two-level:racks=1024,hosts=1024,rails=2"), HasSubstr("too many NICs"));
  EXPECT_THAT(error_of([] { wiring_of("star:rails=256", 5'000); }), HasSubstr("too many NICs"));
  Platform torus = parse_platform_spec("torus:dims=2x2");
  torus.node.rails.count = 2;
  EXPECT_THROW(Wiring(torus, 4), Unsupported);
}

TEST(Rails, EachHasAnEndOnAStar) {
  const Wiring wiring = wiring_of("star:rails=2,ranks_per_node=2", 4);
  EXPECT_EQ(wiring.links().size(), 8u);
  // Rank 1 has the second NIC of its host, rank 2 the first of the next.
  EXPECT_THAT(names_of(wiring, wiring.route(RankId(1), RankId(2))),
              ElementsAre("host-0.nic-1.out", "host-1.nic-0.in"));
  EXPECT_TRUE(wiring.route(RankId(0), RankId(1)).local);
  EXPECT_EQ(wiring.nic_name(wiring.node().nic(RankId(3), RankId(0))), "host-1.nic-1");
  EXPECT_EQ(wiring_of("star", 2).nic_name(NicId(1)), "host-1");
}

TEST(Rails, OnOneLeafOrOnALeafEach) {
  const std::string spec =
      "two-level:racks=2,hosts=2,rails=2,rail=channel,rate=8Gbps,latency=1us,"
      "hop_latency=100ns";
  const Wiring one = wiring_of(spec, 4);
  EXPECT_THAT(names_of(one, one.route(RankId(0), RankId(1), {0, 1})),
              ElementsAre("host-0.nic-1.out", "host-1.nic-1.in"));
  EXPECT_THAT(names_of(one, one.route(RankId(1), RankId(2), {0, 1})),
              ElementsAre("host-1.nic-1.out", "rack-0.up", "rack-1.down", "host-2.nic-1.in"));
  EXPECT_EQ(one.links()[one.find_link("rack-0.up")->value].rate, Rate{32'000'000'000});

  const Wiring each = wiring_of(spec + ",rail_wiring=rail-optimized", 4);
  EXPECT_THAT(names_of(each, each.route(RankId(0), RankId(1), {0, 1})),
              ElementsAre("host-0.nic-1.out", "host-1.nic-1.in"));
  EXPECT_THAT(
      names_of(each, each.route(RankId(1), RankId(2), {0, 1})),
      ElementsAre("host-1.nic-1.out", "rack-0.rail-1.up", "rack-1.rail-1.down", "host-2.nic-1.in"));
  EXPECT_EQ(each.links()[each.find_link("rack-0.rail-1.up")->value].rate, Rate{16'000'000'000});
  EXPECT_EQ(each.rack(RankId(1)), 0u);
  EXPECT_EQ(each.rack(RankId(2)), 1u);
  // From one rail to another it is past the core, also within a rack.
  const Wiring ranks =
      wiring_of("two-level:racks=1,hosts=2,rails=2,ranks_per_node=2,rail_wiring=rail-optimized", 4);
  EXPECT_THAT(
      names_of(ranks, ranks.route(RankId(0), RankId(3))),
      ElementsAre("host-0.nic-0.out", "rack-0.rail-0.up", "rack-0.rail-1.down", "host-1.nic-1.in"));
}

TEST(Rails, OnTheLeavesOfAFatTree) {
  const std::string spec = "fat-tree:down=4x4,up=1x2,rails=2,rail=channel";
  // 16 ports are 8 hosts.
  EXPECT_EQ(node_count(parse_platform_spec(spec)), 8u);
  EXPECT_THROW(wiring_of(spec, 9), InputError);
  const Wiring one = wiring_of(spec, 8);
  EXPECT_EQ(one.find_link("host-7.nic-1.in"), LinkId(31));
  EXPECT_EQ(one.route(RankId(0), RankId(1), {0, 1}).links.size(), 2u);  // four NICs, two hosts
  EXPECT_EQ(one.route(RankId(0), RankId(2), {0, 1}).links.size(), 4u);
  const Wiring each = wiring_of(spec + ",rail_wiring=rail-optimized", 8);
  // A leaf has one rail of four hosts; rail 1 of host 0 is the first NIC of leaf 1.
  EXPECT_EQ(each.find_link("host-0.nic-1.out"), LinkId(8));
  EXPECT_EQ(each.route(RankId(0), RankId(3), {0, 1}).links.size(), 2u);
  EXPECT_EQ(each.route(RankId(0), RankId(4), {0, 1}).links.size(), 4u);
  EXPECT_EQ(each.rack(RankId(3)), 0u);
  EXPECT_EQ(each.rack(RankId(4)), 1u);
  for (const std::string wiring : {"one-leaf", "rail-optimized"}) {
    std::set<std::string> names;
    const Wiring all = wiring_of(spec + ",rail_wiring=" + wiring, 8);
    for (const Link& link : all.links()) names.insert(link.name);
    EXPECT_EQ(names.size(), all.links().size());
  }
}

TEST(Rails, ADragonflysHostHasAllAtItsRouter) {
  const Wiring wiring =
      wiring_of("dragonfly:groups=2,chassis=1,routers=2,hosts=2,rails=3,rail=channel", 8);
  EXPECT_EQ(wiring.links().size(), 2u * 24 + 4 + 2);
  for (std::uint32_t rail = 0; rail < 3; ++rail) {
    EXPECT_EQ(wiring.route(RankId(0), RankId(1), {0, rail}).links.size(), 2u);
    EXPECT_EQ(wiring.route(RankId(0), RankId(2), {0, rail}).links.size(), 3u);
  }
  EXPECT_EQ(wiring.rack(RankId(3)), 0u);
  EXPECT_EQ(wiring.rack(RankId(4)), 1u);
}

TEST(Rails, ChannelsAreDealtInTheirOrder) {
  Program p(3);
  std::vector<ChannelId> channels;
  for (const auto& [src, dst] : {std::pair(0u, 1u), {0u, 1u}, {1u, 0u}, {0u, 2u}, {0u, 1u}}) {
    channels.push_back(p.channel(src, dst));
  }
  // The third from 1 to 0 carries credits of the last channel, and is no second one.
  const ChannelId credits = p.channel(1, 0);
  const ChannelId last = p.channel(1, 0);
  p.builder().channel(channels[4]).credit_on = credits;
  const sched::Schedule schedule = p.build();
  Rails rails{2, RailRule::kChannel, {}};
  EXPECT_THAT(numbers_for_rails(schedule, rails), ElementsAre(0, 1, 0, 0, 0, 0, 1));
  rails.count = 3;
  EXPECT_THAT(numbers_for_rails(schedule, rails), ElementsAre(0, 1, 0, 0, 2, 2, 1));
  rails.rule = RailRule::kRank;
  EXPECT_THAT(numbers_for_rails(schedule, rails), ::testing::Each(0u));
  // Both ends have the same rail but where it is the rank's.
  const Wiring pair = wiring_of("star:rails=3,rail=pair", 3);
  const Paths paths(schedule, pair, {});
  const Path& there = paths[paths.of(last, false)];
  EXPECT_EQ(there.src_nic, NicId(3 + (1 + 0 + 1) % 3));
  EXPECT_EQ(there.dst_nic, NicId((0 + 1 + 1) % 3));
  const Path& back = paths[paths.of(last, true)];
  EXPECT_EQ(back.src_nic, there.dst_nic);
  EXPECT_EQ(back.dst_nic, there.src_nic);
  EXPECT_EQ(paths.nic_count(), 9u);
}

// Two channels that carry each other's credits are both of messages.
TEST(Rails, ChannelsThatCreditEachOtherCount) {
  Program p(2);
  const ChannelId there = p.channel(0, 1);
  const ChannelId back = p.channel(1, 0);
  const ChannelId more = p.channel(0, 1);
  p.builder().channel(there).credit_on = back;
  p.builder().channel(back).credit_on = there;
  p.builder().channel(more).credit_on = more;  // a barrier's
  EXPECT_THAT(numbers_for_rails(p.build(), {4, RailRule::kChannel, {}}), ElementsAre(0, 0, 1));
}

TEST(Rails, PlacementPlacesHosts) {
  const Wiring wiring = wiring_of(
      "two-level:racks=2,hosts=2,rails=2,rail_wiring=rail-optimized,placement=round-robin", 4);
  std::vector<std::string> hosts;
  for (std::uint32_t r = 0; r < 4; ++r) hosts.push_back(wiring.host_name(RankId(r)));
  EXPECT_THAT(hosts, ElementsAre("host-0", "host-2", "host-1", "host-3"));
}

}  // namespace
}  // namespace slackline::machine
