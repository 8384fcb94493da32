// Ranks that are switches: how platforms name them, and their ways.
#include "machine/switches.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using sched::RankId;

std::vector<std::string> names_on(const Wiring& wiring, const Route& route) {
  std::vector<std::string> names;
  for (const LinkId link : route.links) names.push_back(wiring.links()[link.value].name);
  return names;
}

struct Way {
  std::uint32_t src;
  std::uint32_t dst;
  std::vector<std::string> links;
  std::int64_t latency_ns;
};

void expect_ways(const std::string& spec, std::uint32_t ranks, const std::vector<Way>& ways) {
  const Wiring wiring(parse_platform_spec(spec), ranks);
  for (const Way& way : ways) {
    const Route route = wiring.route(RankId(way.src), RankId(way.dst));
    EXPECT_EQ(names_on(wiring, route), way.links) << spec << " " << way.src << " " << way.dst;
    EXPECT_EQ(route.latency.count(), 1000 * way.latency_ns) << spec;
  }
}

TEST(Switches, AreNamedOneByOneOrInRuns) {
  const Platform platform =
      parse_platform_spec("two-level:racks=3,hosts=2,switches=rack-0..2+core");
  const std::vector<std::string> names = {"rack-0", "rack-1", "rack-2", "core"};
  EXPECT_EQ(platform.switches.names, names);
  EXPECT_NE(platform.spec().find(",switches=rack-0+rack-1+rack-2+core"), std::string::npos);
  EXPECT_EQ(parse_platform_spec(platform.spec()).switches, platform.switches);
  EXPECT_TRUE(platform.switches.holds(RankId(3), 7));
  EXPECT_FALSE(platform.switches.holds(RankId(2), 7));
  EXPECT_FALSE(Platform().switches.holds(RankId(2), 3));
  const Wiring wiring(platform, 7);
  EXPECT_EQ(wiring.host_name(RankId(2)), "host-2");
  EXPECT_EQ(wiring.host_name(RankId(6)), "core");
  EXPECT_FALSE(wiring.is_switch(RankId(2)));
  EXPECT_TRUE(wiring.is_switch(RankId(3)));
  EXPECT_EQ(wiring.nic_count(), 3u + wiring.links().size());
}

TEST(Switches, AreHalfALatencyFromHosts) {
  expect_ways("star:latency=6ns,switches=switch", 3,
              {{0, 2, {"host-0.out"}, 3}, {2, 1, {"host-1.in"}, 3}});
  expect_ways("two-level:racks=2,hosts=2,latency=4us,hop_latency=1us,switches=rack-1+core", 6,
              {{2, 4, {"host-2.out"}, 2000},
               {0, 4, {"host-0.out", "rack-0.up", "rack-1.down"}, 4000},
               {4, 5, {"rack-1.up"}, 1000},
               {5, 3, {"rack-1.down", "host-3.in"}, 3000},
               {5, 4, {"rack-1.down"}, 1000},
               {0, 2, {"host-0.out", "rack-0.up", "rack-1.down", "host-2.in"}, 6000}});
  // Level 1 has two switches of two hosts in each of two pods, level 2 two above each pod's, of
  // which each has two above it.
  expect_ways(
      "fat-tree:down=2x2x2,up=1x2x2,latency=4us,hop_latency=1us,"
      "switches=switch-1-1+switch-2-3+switch-3-1+switch-3-3",
      12,
      {{2, 8, {"host-2.out"}, 2000},
       {8, 0, {"switch-1-1.up-0", "switch-1-0.down-0", "host-0.in"}, 4000},
       // Digit 1 of switch 3 of level 2 says port 1; it is above hosts 4 to 7.
       {4, 9, {"host-4.out", "switch-1-2.up-1"}, 3000},
       {9, 6, {"switch-1-3.down-1", "host-6.in"}, 3000},
       // Over the last level, where the destination's first host, 4, says port 4 / 2 % 2.
       {0, 9, {"host-0.out", "switch-1-0.up-1", "switch-2-1.up-0", "switch-2-3.down-0"}, 5000},
       // Switch 3 of the last level has digits 1 and 1.
       {0, 11, {"host-0.out", "switch-1-0.up-1", "switch-2-1.up-1"}, 4000},
       {11, 9, {"switch-2-3.down-1"}, 1000},
       {11, 8, {"switch-2-1.down-1", "switch-1-1.down-1"}, 2000}});
}

TEST(Switches, RefusesWhatItCannotPlace) {
  const auto error = [](const std::string& spec, std::uint32_t ranks = 4) {
    return testing::error_of([&] { Wiring(parse_platform_spec(spec), ranks); });
  };
  EXPECT_EQ(error("star:switches=switch+switch"),
            "platform 'star:switches=switch+switch': switches: 'switch' stands twice; expected "
            "one rank on a switch");
  EXPECT_EQ(error("star:switches=core"),
            "platform 'star:switches=core': 'core' is no switch of the network; expected switch");
  EXPECT_EQ(error("two-level:racks=2,hosts=2,switches=rack-2"),
            "platform 'two-level:racks=2,hosts=2,switches=rack-2': 'rack-2' is no switch of the "
            "network; expected rack-0 … rack-1 or core");
  EXPECT_EQ(error("fat-tree:arity=4,switches=switch-3-4"),
            "platform 'fat-tree:arity=4,switches=switch-3-4': 'switch-3-4' is no switch of the "
            "network; expected switch-1-0 … switch-3-3");
  EXPECT_EQ(error("star:switches=switch-3..1"),
            "platform 'star:switches=switch-3..1': switches: 'switch-3..1' is no run of "
            "switches; expected one such as rack-0..3");
  EXPECT_EQ(error("star:switches=switch", 0),
            "platform 'star:switches=switch': 1 switches for 0 ranks; expected no more switches "
            "than ranks");
  EXPECT_NE(error("torus:dims=4x4,switches=router-0").find("torus takes no key 'switches'"),
            std::string::npos);
  EXPECT_THROW(parse_platform_spec("star:switches=switch,rails=2"), Unsupported);
  EXPECT_THROW(parse_platform_spec("star:switches=switch,ranks_per_node=2"), Unsupported);
}

}  // namespace
}  // namespace slackline::machine
