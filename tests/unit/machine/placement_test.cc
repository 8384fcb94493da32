#include "machine/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"

namespace slackline::machine {
namespace {

using sched::RankId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> placed(std::string_view platform, std::uint32_t ranks) {
  const Wiring wiring(parse_platform_spec(platform), ranks);
  std::vector<std::string> hosts;
  for (std::uint32_t r = 0; r < ranks; ++r) hosts.push_back(wiring.host_name(RankId(r)));
  return hosts;
}

TEST(Placement, PackedFillsHostsInOrder) {
  EXPECT_THAT(placed("two-level:racks=2,hosts=2", 3), ElementsAre("host-0", "host-1", "host-2"));
}

TEST(Placement, RoundRobinDealsOverRacksLeavesAndGroups) {
  EXPECT_THAT(placed("two-level:racks=2,hosts=3,placement=round-robin", 6),
              ElementsAre("host-0", "host-3", "host-1", "host-4", "host-2", "host-5"));
  EXPECT_THAT(placed("two-level:racks=3,hosts=2,placement=round-robin", 4),
              ElementsAre("host-0", "host-2", "host-4", "host-1"));
  EXPECT_THAT(placed("fat-tree:arity=4,placement=round-robin", 9),
              ElementsAre("host-0", "host-2", "host-4", "host-6", "host-8", "host-10", "host-12",
                          "host-14", "host-1"));
  EXPECT_THAT(placed("dragonfly:groups=2,chassis=1,routers=2,hosts=2,placement=round-robin", 4),
              ElementsAre("host-0", "host-4", "host-1", "host-5"));
  // One host per router, and one switch.
  EXPECT_THAT(placed("torus:dims=2x2,placement=round-robin", 3),
              ElementsAre("host-0", "host-1", "host-2"));
  EXPECT_THAT(placed("star:placement=round-robin", 3), ElementsAre("host-0", "host-1", "host-2"));
}

TEST(Placement, PlacesNodesOfSeveralRanks) {
  EXPECT_THAT(placed("two-level:racks=2,hosts=2,ranks_per_node=2,placement=round-robin", 5),
              ElementsAre("host-0", "host-0", "host-2", "host-2", "host-1"));
  EXPECT_THAT(placed("star:ranks_per_node=3", 4),
              ElementsAre("host-0", "host-0", "host-0", "host-1"));
  const Platform nodes = parse_platform_spec(
      "star:ranks_per_node=8,threads_per_process=2,zones_per_node=3,memory_latency=100ns,"
      "zone_latency=50ns,copy_rate=64Gbps");
  const Wiring wiring(nodes, 20);
  EXPECT_EQ(wiring.links().size(), 6u);  // of three hosts, the last not full
  std::vector<std::uint32_t> zones;
  for (std::uint32_t r = 8; r < 16; ++r) zones.push_back(nodes.node.zone_of(RankId(r)));
  EXPECT_THAT(zones, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2));
  const Route near = wiring.route(RankId(8), RankId(10));
  EXPECT_TRUE(near.local && near.links.empty());
  EXPECT_EQ(near.latency, Time{100'000});
  EXPECT_EQ(near.copy_rate, nodes.copy_rate);
  EXPECT_EQ(wiring.route(RankId(8), RankId(11)).latency, Time{150'000});
  const Route far = wiring.route(RankId(7), RankId(8));
  EXPECT_FALSE(far.local);
  EXPECT_EQ(far.links, (std::vector{LinkId(0), LinkId(3)}));
  EXPECT_THAT(testing::error_of([&] { placed("two-level:racks=2,hosts=2,ranks_per_node=2", 9); }),
              HasSubstr("5 nodes on 4 hosts; expected no more nodes than hosts"));
}

TEST(Placement, TakesRoutesFromTheRanksHosts) {
  const Wiring wiring(parse_platform_spec("two-level:racks=2,hosts=3,placement=round-robin"), 6);
  EXPECT_EQ(wiring.route(RankId(0), RankId(1)).links,
            (std::vector{LinkId(0), *wiring.find_link("rack-0.up"),
                         *wiring.find_link("rack-1.down"), LinkId(7)}));
  EXPECT_EQ(wiring.route(RankId(1), RankId(3)).links, (std::vector{LinkId(6), LinkId(9)}));
}

TEST(Placement, RandomIsAPermutationThatTheSeedDetermines) {
  const std::string spec = "torus:dims=8x8,placement=random:";
  std::set<std::vector<std::string>> orders;
  for (int seed = 0; seed < 50; ++seed) {
    const auto hosts = placed(spec + std::to_string(seed), 64);
    EXPECT_EQ(std::set(hosts.begin(), hosts.end()).size(), 64u);
    EXPECT_EQ(placed(spec + std::to_string(seed), 64), hosts);
    orders.insert(hosts);
    // Fewer ranks are the first of more.
    const auto few = placed(spec + std::to_string(seed), 10);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), hosts.begin()));
  }
  EXPECT_EQ(orders.size(), 50u);
}

// Each of 5 hosts gets each of 5 ranks in a fifth of 20,000 draws, to six standard deviations.
TEST(Placement, RandomPrefersNoHost) {
  constexpr int kDraws = 20'000;
  std::array<std::array<int, 5>, 5> counts{};
  HostSet hosts;
  hosts.count = 5;
  for (int seed = 0; seed < kDraws; ++seed) {
    const auto order = place_ranks({Placement::Kind::kRandom, static_cast<std::uint64_t>(seed), ""},
                                   5, hosts, "test");
    for (std::size_t r = 0; r < 5; ++r) ++counts[r][order[r]];
  }
  for (const auto& of_rank : counts) {
    for (const int count : of_rank) EXPECT_NEAR(count, kDraws / 5, 6 * 57);
  }
}

class PlacementFile : public ::testing::Test {
 protected:
  std::string spec(const std::string& content) const {
    return "two-level:racks=2,hosts=4,placement=file:" + folder_.write("hosts.txt", content);
  }
  std::string error(const std::string& content, std::uint32_t ranks) const {
    const std::string message = slackline::testing::error_of([&] { placed(spec(content), ranks); });
    EXPECT_THAT(message, HasSubstr("expected"));
    return message;
  }
  const slackline::testing::TempFolder folder_;
};

TEST_F(PlacementFile, NamesHostsRankByRank) {
  EXPECT_THAT(placed(spec("host-7\n3\n# spare\n\n  host-0 \r\n6"), 3),
              ElementsAre("host-7", "host-3", "host-0"));
}

TEST_F(PlacementFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(error("1\nhost-8\n", 1),
              HasSubstr(":2: 'host-8' is no host; expected host-0 … host-7 or a number below 8"));
  EXPECT_THAT(error("8\n", 1), HasSubstr(":1: '8' is no host; expected"));
  EXPECT_THAT(error("-1\n", 1), HasSubstr(":1: '-1' is no host; expected"));
  EXPECT_THAT(error("host-01\n", 1), HasSubstr(":1: 'host-01' is no host; expected"));
  EXPECT_THAT(error("host-\n", 1), HasSubstr(":1: 'host-' is no host; expected"));
  EXPECT_THAT(error("99999999999999999999\n", 1), HasSubstr("is no host; expected"));
  EXPECT_THAT(error("a\x01z\n", 1), HasSubstr("'a\\x01z' is no host; expected"));
  EXPECT_THAT(error("1\n\nhost-1\n", 1), HasSubstr(":3: 'host-1' stands twice; expected one rank"));
  EXPECT_THAT(error("1\n2\n", 3), HasSubstr("2 hosts for 3 ranks; expected a host for each rank"));
  EXPECT_THAT(error("", 1), HasSubstr("0 hosts for 1 ranks; expected a host for each rank"));
  EXPECT_THAT(error("0\n1\n2\n3\n4\n5\n6\n7\n", 9),
              HasSubstr("9 ranks on 8 hosts; expected no more ranks than hosts"));
  std::filesystem::remove(folder_.path("hosts.txt"));
  EXPECT_THROW(placed("star:placement=file:" + folder_.path("hosts.txt"), 1), InputError);
}

}  // namespace
}  // namespace slackline::machine
