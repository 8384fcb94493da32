// A testbed's tree of switches, found from a network's ways.
#include "hw/testbed/switch_tree.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hw/testbed/each.h"
#include "hw/testbed/guest.h"
#include "hw/testbed/scripts.h"
#include "machine/platform.h"
#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

using machine::Link;
using machine::LinkId;
using machine::Route;
using machine::Wiring;
using sched::RankId;
using sched::Rate;
using sched::Time;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Time us(std::int64_t microseconds) { return Time(microseconds * 1'000'000); }

SwitchTree tree_of(const char* platform, std::uint32_t ranks) {
  return switch_tree(Wiring(machine::parse_platform_spec(platform), ranks));
}

// What switch_tree() says against it.
std::string refusal_of(const Wiring& wiring) {
  return testing::error_of<Unsupported>([&] { switch_tree(wiring); });
}
std::string refusal_of(const char* platform, std::uint32_t ranks) {
  return refusal_of(Wiring(machine::parse_platform_spec(platform), ranks));
}

TEST(SwitchTreeOfPlatform, StarIsOneSwitch) {
  const SwitchTree tree = tree_of("star:rate=400Mbps,latency=60us", 3);
  ASSERT_EQ(tree.switches.size(), 1u);
  EXPECT_FALSE(tree.switches[0].above.has_value());
  ASSERT_EQ(tree.hosts.size(), 3u);
  for (const SwitchTree::Host& host : tree.hosts) {
    EXPECT_EQ(host.on, 0u);
    EXPECT_EQ(host.cable.up.bits_per_second, 400'000'000u);
    EXPECT_EQ(host.cable.down.bits_per_second, 400'000'000u);
  }
  EXPECT_EQ(tree.hosts[2].name, "host-2");
  EXPECT_THAT(tree.hosts[1].latency_to, ElementsAre(us(60), us(0), us(60)));
}

TEST(SwitchTreeOfPlatform, RacksHaveASwitchEachBelowTheLast) {
  const SwitchTree tree = tree_of(
      "two-level:racks=2,hosts=2,oversubscription=4,rate=400Mbps,latency=60us,hop_latency=5us", 4);
  ASSERT_EQ(tree.switches.size(), 3u);
  EXPECT_EQ(tree.hosts[0].on, tree.hosts[1].on);
  EXPECT_EQ(tree.hosts[2].on, tree.hosts[3].on);
  EXPECT_NE(tree.hosts[0].on, tree.hosts[2].on);
  for (const std::uint32_t rack : {0u, 1u}) {
    EXPECT_EQ(tree.switches[rack].above, std::optional<std::uint32_t>(2));
    EXPECT_EQ(tree.switches[rack].cable.up.bits_per_second, 200'000'000u);
    EXPECT_EQ(tree.switches[rack].cable.down.bits_per_second, 200'000'000u);
  }
  // Two switches more than within a rack.
  EXPECT_THAT(tree.hosts[3].latency_to, ElementsAre(us(70), us(70), us(60), us(0)));
  EXPECT_FALSE(tree.switches[2].above.has_value());
}

TEST(SwitchTreeOfPlatform, WhatIsNoTreeIsRefusedByName) {
  EXPECT_THAT(refusal_of("torus:dims=3,rate=1Gbps", 3), HasSubstr("expected a tree of switches"));
  EXPECT_THAT(refusal_of("dragonfly:groups=3,chassis=1,routers=3,hosts=1,rate=1Gbps", 9),
              HasSubstr("expected a tree of switches"));
  EXPECT_THAT(refusal_of("fat-tree:down=2x2,up=1x2,rate=1Gbps,routing=ecmp", 4),
              HasSubstr("routing=ecmp: a testbed is a tree of switches"));
  EXPECT_THAT(refusal_of("fat-tree:down=2x2,up=1x2,rate=1Gbps,routing=adaptive", 4),
              HasSubstr("routing=adaptive: a testbed is a tree of switches"));
  EXPECT_THAT(refusal_of("fat-tree:down=2x2,up=1x2,rate=1Gbps,routing=spray", 4),
              HasSubstr("messages from host-0 to host-2 are sprayed over several ways"));
  EXPECT_EQ(tree_of("fat-tree:down=2x2,up=1x1,rate=1Gbps,routing=spray", 4).switches.size(), 3u);
  EXPECT_THAT(refusal_of("star:rate=1Gbps,ranks_per_node=2", 4),
              HasSubstr("ranks 0 and 1 share a machine"));
  EXPECT_THROW(tree_of("star:rate=1Gbps", 1), InputError);
}

// A network told link by link.
class Network {
 public:
  LinkId link(std::string name, std::uint64_t rate, bool shared = true) {
    links_.push_back({std::move(name), Rate{rate}, shared});
    return LinkId(static_cast<std::uint32_t>(links_.size() - 1));
  }
  void route(std::uint32_t src, std::uint32_t dst, std::vector<LinkId> links,
             Time latency = Time(0)) {
    routes_.push_back({RankId(src), RankId(dst), {std::move(links), latency}});
  }
  Wiring wiring(std::uint32_t hosts) {
    std::vector<std::string> names;
    for (std::uint32_t h = 0; h < hosts; ++h) names.push_back(fmt::format("h{}", h));
    return Wiring(names, links_, routes_);
  }

 private:
  std::vector<Link> links_;
  std::vector<Wiring::FixedRoute> routes_;
};

TEST(SwitchTreeOfLinks, ACableThatGoesBothWaysIsRefused) {
  Network network;
  const LinkId both = network.link("both", 1000);
  const LinkId other = network.link("other", 1000);
  network.route(0, 1, {both, other});
  network.route(1, 0, {other, both});
  EXPECT_THAT(refusal_of(network.wiring(2)),
              AllOf(HasSubstr("link both serves several hosts"), HasSubstr("both directions")));
}

TEST(SwitchTreeOfLinks, ALinkThatNobodySharesIsRefused) {
  Network network;
  const LinkId wide = network.link("wide", 1000, false);
  const LinkId other = network.link("other", 1000);
  network.route(0, 1, {wide, other});
  network.route(1, 0, {other, wide});
  EXPECT_THAT(refusal_of(network.wiring(2)), HasSubstr("link wide gives every message"));
}

TEST(SwitchTreeOfLinks, AnUplinkByDestinationIsRefused) {
  // Two racks of one and two; host 0 takes one uplink to host 1 and another to host 2.
  Network network;
  std::vector<LinkId> out, in;
  for (int h = 0; h < 3; ++h) {
    out.push_back(network.link(fmt::format("out{}", h), 1000));
    in.push_back(network.link(fmt::format("in{}", h), 1000));
  }
  const LinkId first = network.link("first", 1000), second = network.link("second", 1000);
  const LinkId back = network.link("back", 1000), down = network.link("down", 1000);
  const LinkId up = network.link("up", 1000);
  network.route(0, 1, {out[0], first, down, in[1]});
  network.route(0, 2, {out[0], second, down, in[2]});
  for (const std::uint32_t h : {1u, 2u}) network.route(h, 0, {out[h], up, back, in[0]});
  network.route(1, 2, {out[1], in[2]});
  network.route(2, 1, {out[2], in[1]});
  EXPECT_THAT(refusal_of(network.wiring(3)),
              AllOf(HasSubstr("several ways out of h0"), HasSubstr("first"), HasSubstr("second")));
}

// Any tree: its ways, told as a network, give it back. The switches may come out in another order,
// and those that only pass messages on may be told from above or from below. So ways are compared.
TEST(SwitchTreeOfLinks, RandomTreesComeBack) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return random() % end; };
    struct Node {
      std::size_t above = 0, depth = 0;
      LinkId up, down;
      std::size_t children = 0;
    };
    // Each node hangs below one of those before it; what has none below it is a host.
    std::vector<Node> nodes(1);
    Network network;
    const std::size_t count = 3 + below(12);
    for (std::size_t n = 1; n < count; ++n) {
      const std::size_t above = below(2) == 0 ? n - 1 : below(n);
      const LinkId up = network.link(fmt::format("u{}", n), 1 + below(1000));
      const LinkId down = network.link(fmt::format("d{}", n), 1 + below(1000));
      nodes.push_back({above, nodes[above].depth + 1, up, down});
      ++nodes[above].children;
    }
    std::vector<std::size_t> leaves;
    for (std::size_t n = 1; n < count; ++n) {
      if (nodes[n].children == 0) leaves.push_back(n);
    }
    if (leaves.size() < 2) continue;  // a chain
    const auto way = [&](std::size_t src, std::size_t dst) {
      Route route;
      std::vector<LinkId> down;
      while (src != dst) {
        const bool up = nodes[src].depth >= nodes[dst].depth;
        (up ? route.links : down).push_back(up ? nodes[src].up : nodes[dst].down);
        (up ? src : dst) = nodes[up ? src : dst].above;
      }
      route.links.insert(route.links.end(), down.rbegin(), down.rend());
      return route;
    };
    std::shuffle(leaves.begin(), leaves.end(), random);
    const auto hosts = static_cast<std::uint32_t>(leaves.size());
    std::vector<Time> latency(hosts * hosts);
    for (std::uint32_t s = 0; s < hosts; ++s) {
      for (std::uint32_t d = 0; d < hosts; ++d) {
        if (s == d) continue;
        Route route = way(leaves[s], leaves[d]);
        latency[s * hosts + d] = Time(static_cast<std::int64_t>(below(5)));
        network.route(s, d, std::move(route.links), latency[s * hosts + d]);
      }
    }
    const Wiring wiring = network.wiring(hosts);
    const SwitchTree tree = switch_tree(wiring);
    ASSERT_EQ(tree.hosts.size(), hosts);
    EXPECT_FALSE(tree.switches.back().above.has_value());
    const auto depth = [&](std::uint32_t at) {
      std::size_t switches = 0;
      for (; tree.switches[at].above; at = *tree.switches[at].above) ++switches;
      return switches;
    };
    // The rates that a message passes in the tree that was found.
    const auto found = [&](std::uint32_t src, std::uint32_t dst) {
      std::vector<std::uint64_t> up = {tree.hosts[src].cable.up.bits_per_second};
      std::vector<std::uint64_t> down = {tree.hosts[dst].cable.down.bits_per_second};
      std::uint32_t one = tree.hosts[src].on, other = tree.hosts[dst].on;
      while (one != other) {
        if (depth(one) >= depth(other)) {
          up.push_back(tree.switches[one].cable.up.bits_per_second);
          one = tree.switches[one].above.value();
        } else {
          down.push_back(tree.switches[other].cable.down.bits_per_second);
          other = tree.switches[other].above.value();
        }
      }
      up.insert(up.end(), down.rbegin(), down.rend());
      return up;
    };
    for (std::uint32_t s = 0; s < hosts; ++s) {
      for (std::uint32_t d = 0; d < hosts; ++d) {
        ASSERT_EQ(tree.hosts[s].latency_to[d], latency[s * hosts + d]) << "seed " << seed;
        if (s == d) continue;
        std::vector<std::uint64_t> passed;
        for (const LinkId link : wiring.route(RankId(s), RankId(d)).links) {
          passed.push_back(wiring.links()[link.value].rate.bits_per_second);
        }
        ASSERT_EQ(found(s, d), passed) << "seed " << seed << ", from " << s << " to " << d;
      }
    }
  }
}

// One link of one way is another: then it is no tree any more, and that is said.
TEST(SwitchTreeOfLinks, AWayOfItsOwnIsRefused) {
  for (std::uint32_t changed = 0; changed < 6; ++changed) {
    for (std::size_t at = 0; at < 2; ++at) {
      Network network;
      std::vector<LinkId> out, in;
      for (int h = 0; h < 3; ++h) {
        out.push_back(network.link(fmt::format("out{}", h), 1000));
        in.push_back(network.link(fmt::format("in{}", h), 1000));
      }
      const LinkId own = network.link("own", 1000);
      std::uint32_t number = 0;
      for (std::uint32_t s = 0; s < 3; ++s) {
        for (std::uint32_t d = 0; d < 3; ++d) {
          if (s == d) continue;
          std::vector<LinkId> links = {out[s], in[d]};
          if (number++ == changed) links[at] = own;
          network.route(s, d, links);
        }
      }
      EXPECT_THAT(refusal_of(network.wiring(3)),
                  AllOf(HasSubstr("there are several ways"), HasSubstr("link own")));
    }
  }
}

TEST(TestbedScripts, BothEndsOfEachCableAreShaped) {
  const SwitchTree tree =
      tree_of("two-level:racks=2,hosts=2,oversubscription=2,rate=400Mbps,latency=1ms", 4);
  const auto space_of = [](std::uint32_t host) { return fmt::format("/space/{}", host); };
  std::string all;
  for (const std::string& script : switch_scripts(tree, {TestbedLatency::kBare}, space_of)) {
    all += script;
  }
  EXPECT_THAT(
      all,
      HasSubstr("link add name p3 mtu 1500 type veth peer name eth0 mtu 1500 netns /space/3\n"));
  EXPECT_THAT(all, HasSubstr("link set p3 master s1 up\n"));
  EXPECT_THAT(all, HasSubstr("link set d1 master s2 up\n"));
  // 400 Mb/s of bytes that TCP carries.
  for (const char* port : {"p0", "p3", "u0", "d0", "u1", "d1"}) {
    EXPECT_THAT(all, HasSubstr(fmt::format("class add dev {} parent 1: classid 1:1 htb rate "
                                           "418232044bit ceil 418232044bit",
                                           port)));
    EXPECT_THAT(all, HasSubstr(fmt::format("hook egress device \"{}\"", port)));
  }
  EXPECT_THAT(host_script(tree, {TestbedLatency::kBare}, 2),
              AllOf(HasSubstr("address add 10.77.0.3/24 dev eth0\n"),
                    HasSubstr("class add dev eth0 parent 1: classid 1:1 htb rate 418232044bit")));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("netem")));
}

TEST(TestbedScripts, LatencyIsOfWhatLeavesAHost) {
  const SwitchTree tree = tree_of("star:rate=400Mbps,latency=1ms", 2);
  EXPECT_THAT(host_script(tree, {TestbedLatency::kTree}, 0),
              AllOf(HasSubstr("qdisc add dev eth0 parent 1:20 handle 20: netem delay 1000.000us "),
                    HasSubstr("parent 1:1000 handle 1000: netem delay 1000.000us ")));
  for (const std::string& script :
       switch_scripts(tree, {TestbedLatency::kTree}, [](std::uint32_t) { return "/s"; })) {
    EXPECT_THAT(script, ::testing::Not(HasSubstr("netem")));
  }
}

TEST(TestbedScripts, LatencyIsByWhereAPacketGoes) {
  const SwitchTree tree =
      tree_of("two-level:racks=2,hosts=2,rate=400Mbps,latency=1ms,hop_latency=1ms", 4);
  EXPECT_THAT(
      host_script(tree, {TestbedLatency::kTree}, 1),
      AllOf(HasSubstr("parent 1:20 handle 20: netem delay 1000.000us "),
            HasSubstr("parent 1:21 handle 21: netem delay 3000.000us "),
            HasSubstr("parent 1:1001 handle 1001: netem delay 3000.000us "),
            HasSubstr("meta priority set ip daddr map { 10.77.0.1 : 65568, 10.77.0.3 : 65569, "
                      "10.77.0.4 : 65569 }\n"),
            HasSubstr("ip length < 300 meta priority set ip daddr map { 10.77.0.1 : 69632, ")));
}

// A packet that overtakes one of its own queue pair is lost to RoCE.
TEST(TestbedScripts, SmallPacketsStayBehindLargerOnesOfTheirQueuePair) {
  const SwitchTree tree = tree_of("star:rate=400Mbps", 2);
  const std::string script = host_script(tree, {TestbedLatency::kBare, TestbedHosts::kGuests}, 1);
  const auto place = [&](const std::string& text) {
    const std::size_t found = script.find(text);
    EXPECT_NE(found, std::string::npos) << text << " in:\n" << script;
    return found;
  };
  const std::string pair = "ip saddr . ip daddr . udp sport";
  const std::size_t noted =
      place("ip length >= 300 udp dport 4791 update @long_eth0 { " + pair + " }\n");
  const std::size_t kept = place("ip length < 300 udp dport 4791 " + pair + " @long_eth0 accept\n");
  EXPECT_LT(noted, kept);
  EXPECT_LT(kept, place("ip length < 300 meta priority set"));
}

// The end of a message that overtakes the rest looks like a loss to TCP. Acknowledgements may.
TEST(TestbedScripts, EndsOfMessagesStayBehindTheRestOfTheirConnection) {
  const SwitchTree tree = tree_of("star:rate=200Mbps", 2);
  const std::string script = host_script(tree, {TestbedLatency::kBare}, 1);
  const auto place = [&](const std::string& text) {
    const std::size_t found = script.find(text);
    EXPECT_NE(found, std::string::npos) << text << " in:\n" << script;
    return found;
  };
  const std::string connection = "ip saddr . ip daddr . tcp sport . tcp dport";
  // 8 MiB at 200 Mb/s take less than a second.
  place("timeout 1s; ");
  const std::size_t noted =
      place("ip length >= 300 ip protocol tcp update @stream_eth0 { " + connection + " }\n");
  const std::size_t kept = place("ip length < 300 tcp flags & (fin | psh) != 0 " + connection +
                                 " @stream_eth0 accept\n");
  EXPECT_LT(noted, kept);
  EXPECT_LT(kept, place("ip length < 300 meta priority set"));
  EXPECT_NE(
      host_script(tree_of("star:rate=10Mbps", 2), {TestbedLatency::kBare}, 1).find("timeout 6s; "),
      std::string::npos);
}

TEST(TestbedScripts, GuestsArePluggedInBehindTheSameShapers) {
  const SwitchTree tree = tree_of("star:rate=400Mbps,latency=1ms", 2);
  const TestbedKind kind{TestbedLatency::kBare, TestbedHosts::kGuests};
  // 400 Mb/s of bytes that RoCE carries.
  const std::string host = host_script(tree, kind, 1);
  EXPECT_THAT(host, AllOf(HasSubstr("link set tap0 mtu 4200 txqueuelen 20000 master br0 up\n"),
                          HasSubstr("link set eth0 gso_max_size 33333 master br0 up\n"),
                          HasSubstr("class add dev eth0 parent 1: classid 1:1 htb rate "
                                    "405664062bit")));
  // The address is the guest's own.
  EXPECT_THAT(host, ::testing::Not(HasSubstr("10.77.0.2")));
  const auto space_of = [](std::uint32_t at) { return fmt::format("/space/{}", at); };
  EXPECT_THAT(switch_scripts(tree, kind, space_of).back(),
              HasSubstr("link add name p1 mtu 4200 type veth peer name eth0 mtu 4200 netns "));
  EXPECT_THAT(guest_entry_script(tree, kind.latency, {"/a/vmlinux", "/a b/initrd"}, space_of),
              AllOf(HasSubstr("host-1) address=10.77.0.2 segment=33333 delays='' "
                              "mac=52:54:00:00:00:02 ;;\n"),
                    HasSubstr("-kernel /a/vmlinux -initrd '/a b/initrd' ")));
}

TEST(TestbedScripts, GuestsDelayWhatTheySendThemselves) {
  const auto space_of = [](std::uint32_t at) { return fmt::format("/space/{}", at); };
  const SwitchTree racks =
      tree_of("two-level:racks=2,hosts=2,rate=400Mbps,latency=1ms,hop_latency=1ms", 4);
  const std::string entry =
      guest_entry_script(racks, TestbedLatency::kTree, {"/a", "/b"}, space_of);
  EXPECT_THAT(
      entry,
      AllOf(HasSubstr("parent 1:1 netem delay 1000.000us "),
            HasSubstr("parent 1:2 netem delay 3000.000us "),
            HasSubstr("filter add dev eth0 parent 1: u32 match ip dst 10.77.0.4 flowid 1:2\n")));
  EXPECT_THAT(host_script(racks, {TestbedLatency::kTree, TestbedHosts::kGuests}, 0),
              ::testing::Not(HasSubstr("netem")));
}

TEST(TestbedScripts, GuestsTellOnlySoManyLatenciesApart) {
  Network network;
  const std::uint32_t hosts = 18;
  std::vector<LinkId> out, in;
  for (std::uint32_t h = 0; h < hosts; ++h) {
    out.push_back(network.link(fmt::format("out{}", h), 1000));
    in.push_back(network.link(fmt::format("in{}", h), 1000));
  }
  for (std::uint32_t s = 0; s < hosts; ++s) {
    for (std::uint32_t d = 0; d < hosts; ++d) {
      if (s != d) network.route(s, d, {out[s], in[d]}, us(d));
    }
  }
  const SwitchTree tree = switch_tree(network.wiring(hosts));
  const auto space_of = [](std::uint32_t) { return "/s"; };
  EXPECT_THROW(guest_entry_script(tree, TestbedLatency::kTree, {"/a", "/b"}, space_of),
               Unsupported);
  EXPECT_NO_THROW(guest_entry_script(tree, TestbedLatency::kBare, {"/a", "/b"}, space_of));
}

TEST(SwitchTreeOfPlatform, RefusesPacketsOfAnotherNetwork) {
  for (const char* platform : {"star:packet_overhead=66B", "star:coding=64/66", "star:mtu=4KiB"}) {
    EXPECT_THAT(refusal_of(platform, 3), HasSubstr("expected a platform without them"));
  }
}

TEST(SwitchTreeOfPlatform, RefusesPcie) {
  EXPECT_THAT(refusal_of("star:pcie_rate=50Gbps", 3), HasSubstr("pcie_rate: a testbed"));
}

TEST(TestbedEach, WordsSayWhichRankItIs) {
  EXPECT_THAT(words_of_rank({"p", "--rank={rank}", "{ranks}{rank}", "{root}", "{other}"}, 2, 3),
              ::testing::ElementsAre("p", "--rank=2", "32", "10.77.0.1:7000", "{other}"));
}

}  // namespace
}  // namespace slackline::hw
