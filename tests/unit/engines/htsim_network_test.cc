#include "engines/htsim_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <sstream>
#include <string>

#include "base/error.h"
#include "tests/support/error_of.h"

namespace slackline::engines {
namespace {

HtsimNetwork network_of(std::string_view spec, std::uint32_t ranks = 4) {
  return htsim_network(machine::parse_platform_spec(spec), ranks);
}

std::string refusal(std::string_view spec) {
  return testing::error_of<Unsupported>([&] { network_of(spec); });
}

TEST(HtsimNetwork, WritesAStarAsOneRackOfAllRanks) {
  const HtsimNetwork network = network_of("star:rate=100Gbps,latency=3us", 5);
  EXPECT_EQ(network.nodes, 5u);
  EXPECT_EQ(network.gbps, 100u);
  EXPECT_EQ(network.text,
            "Nodes 5\nTiers 2\nPodsize 5\n"
            "\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 5\nDownlink_Latency_ns 1500\n"
            "Switch_Latency_ns 0\nRadix_Up 1\nOversubscribed 5\n"
            "\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 1\nDownlink_Latency_ns 1\n"
            "Switch_Latency_ns 0\n");
}

TEST(HtsimNetwork, MakesAnUplinkOfLinksOfANicsRate) {
  const std::string racks =
      "\nTier 0\nDownlink_speed_Gbps 40\nRadix_Down 8\nDownlink_Latency_ns 500\n"
      "Switch_Latency_ns 0\nRadix_Up 2\nOversubscribed 4\n"
      "\nTier 1\nDownlink_speed_Gbps 40\nRadix_Down 3\nDownlink_Latency_ns 250\n"
      "Switch_Latency_ns 0\n";
  for (const char* uplink : {"oversubscription=4", "uplink=80Gbps"}) {
    EXPECT_EQ(network_of(std::string("two-level:racks=3,hosts=8,rate=40Gbps,latency=1us,"
                                     "hop_latency=250ns,") +
                         uplink)
                  .text,
              "Nodes 24\nTiers 2\nPodsize 24\n" + racks)
        << uplink;
  }
}

// What htsim's FatTreeTopology works out of such a file, and refuses if it does not fit: whatever
// it counts from below has to be what it counts from above.
struct Tier {
  std::uint32_t down = 0, up = 0, oversubscribed = 1, bundle = 1;
};
void expect_consistent(const std::string& text, const HtsimNetwork& network) {
  std::istringstream in(network.text);
  std::map<std::string, std::uint32_t> head;
  std::array<Tier, 3> tiers;
  Tier* tier = nullptr;
  std::string key;
  std::uint32_t value = 0;
  while (in >> key >> value) {
    if (key == "Tier") {
      tier = &tiers.at(value);
    } else if (tier == nullptr) {
      head[key] = value;
    } else if (key == "Radix_Down") {
      tier->down = value;
    } else if (key == "Radix_Up") {
      tier->up = value;
    } else if (key == "Oversubscribed") {
      tier->oversubscribed = value;
    } else if (key == "Bundle") {
      tier->bundle = value;
    }
  }
  const std::uint32_t nodes = head["Nodes"];
  ASSERT_EQ(nodes, network.nodes);
  ASSERT_NE(head["Podsize"], 0u) << text;
  ASSERT_EQ(nodes % head["Podsize"], 0u) << text;
  const std::uint32_t pods = nodes / head["Podsize"];
  const auto& [leaf, middle, last] = tiers;
  EXPECT_EQ(head["Podsize"] % leaf.down, 0u) << text;
  EXPECT_EQ(leaf.bundle, 1u) << text;
  EXPECT_EQ(leaf.down / leaf.up, leaf.oversubscribed) << text;
  ASSERT_EQ(nodes % leaf.oversubscribed, 0u) << text;
  const std::uint32_t uplinks = nodes / leaf.oversubscribed;
  EXPECT_EQ(uplinks, nodes / leaf.down * leaf.up) << text;
  ASSERT_EQ(uplinks % (pods * middle.down), 0u) << text;
  const std::uint32_t middles = uplinks / (pods * middle.down);
  EXPECT_EQ(middles * middle.bundle, leaf.up) << text;
  if (head["Tiers"] == 2) {
    EXPECT_EQ(pods, 1u) << text;
    return;
  }
  ASSERT_EQ(uplinks % middle.oversubscribed, 0u) << text;
  const std::uint32_t upper = uplinks / middle.oversubscribed;
  ASSERT_EQ(upper % last.down, 0u) << text;
  const std::uint32_t cores = upper / last.down;
  ASSERT_EQ(cores % middles, 0u) << text;
  EXPECT_EQ(cores * last.bundle / middles, middle.up) << text;
}

TEST(HtsimNetwork, FitsWhatHtsimWorksOutOfIt) {
  for (const char* spec :
       {"star", "two-level:racks=2,hosts=4", "two-level:racks=5,hosts=6,oversubscription=3",
        "fat-tree:down=8,up=1", "fat-tree:down=4x4,up=1x4", "fat-tree:down=8x3,up=1x4",
        "fat-tree:down=8x3,up=1x2,parallel=1x2", "fat-tree:down=2x2x4,up=1x2x2",
        "fat-tree:down=4x4x2,up=1x2x2", "fat-tree:down=4x2x3,up=1x2x1,parallel=1x2x2",
        "fat-tree:down=6x4x5,up=1x3x2,parallel=1x1x2"}) {
    SCOPED_TRACE(spec);
    expect_consistent(spec, network_of(std::string(spec) +
                                       (std::string(spec) == "star" ? ":" : ",") + "rate=100Gbps"));
  }
}

TEST(HtsimNetwork, CountsHostsNotRanks) {
  EXPECT_EQ(network_of("two-level:racks=5,hosts=6,rate=10Gbps").nodes, 30u);
  EXPECT_EQ(network_of("fat-tree:down=4x2x3,up=1x2x2,rate=10Gbps").nodes, 24u);
}

TEST(HtsimNetwork, GivesEachLinkANanosecondAtLeast) {
  const std::string text = network_of("star:rate=1Gbps,latency=0").text;
  EXPECT_EQ(text.find("Downlink_Latency_ns 0"), std::string::npos);
  EXPECT_NE(text.find("Downlink_Latency_ns 1\n"), std::string::npos);
}

TEST(HtsimNetwork, RefusesByName) {
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal("torus:dims=4,rate=10Gbps"), HasSubstr("htsim: torus; expected a star"));
  EXPECT_THAT(refusal("star:rate=2500Mbps"), HasSubstr("htsim: rate=2500Mbps; expected whole"));
  EXPECT_THAT(refusal("star:rate=400Gbps"), HasSubstr("at most 200"));
  EXPECT_THAT(refusal("star:rate=100Gbps,ranks_per_node=2"),
              HasSubstr("htsim: ranks_per_node, which"));
  EXPECT_THAT(refusal("star:rate=100Gbps,mtu=4KiB,packet_overhead=58"),
              HasSubstr("mtu, packet_overhead or coding"));
  EXPECT_THAT(refusal("star:rate=100Gbps,switches=switch"), HasSubstr("switches"));
  EXPECT_THAT(refusal("two-level:racks=2,hosts=4,rate=100Gbps,placement=round-robin"),
              HasSubstr("placement=round-robin"));
  EXPECT_THAT(refusal("two-level:racks=2,hosts=4,oversubscription=3,rate=100Gbps"),
              HasSubstr("uplinks of 1.33333 times a NIC's rate for racks of 4 hosts"));
  EXPECT_THAT(refusal("two-level:racks=2,hosts=4,uplink=300Gbps,rate=100Gbps"),
              HasSubstr("a divisor of the hosts"));
  EXPECT_THAT(refusal("fat-tree:down=4x4,up=1x4,link_rate=200Gbps,rate=100Gbps"),
              HasSubstr("link_rate=200Gbps"));
  EXPECT_THAT(refusal("fat-tree:down=4x4,up=1x3,rate=100Gbps"),
              HasSubstr("switches of 4 links down and 3 up"));
  EXPECT_THAT(refusal("fat-tree:down=2x2x2x2,up=1x2x2x2,rate=100Gbps"),
              HasSubstr("a fat tree of 4 levels"));
}

}  // namespace
}  // namespace slackline::engines
