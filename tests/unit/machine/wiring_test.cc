// The ways of every topology: well formed, as short as can be, and as the shape says.
#include "machine/wiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "machine/platform.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using sched::RankId;
using testing::error_of;
using ::testing::HasSubstr;

constexpr std::string_view kShapes[] = {
    "two-level:racks=1,hosts=1",
    "two-level:racks=1,hosts=5",
    "two-level:racks=5,hosts=1",
    "two-level:racks=3,hosts=4,oversubscription=4",
    "fat-tree:down=5,up=1",
    "fat-tree:down=4x4,up=1x4",
    "fat-tree:down=4x4,up=1x2,parallel=1x2",
    "fat-tree:down=3x2x2,up=1x2x3,parallel=1x2x1",
    "fat-tree:down=2x3x2x2,up=1x1x2x3,parallel=1x3x1x2",
    "fat-tree:arity=2",
    "fat-tree:arity=4",
    "fat-tree:arity=6",
    "fat-tree:arity=6,routing=ecmp:4",
    "fat-tree:down=2x3x2x2,up=1x1x2x3,parallel=1x3x1x2,routing=ecmp",
    "dragonfly:groups=1,chassis=1,routers=1,hosts=3",
    "dragonfly:groups=2,chassis=1,routers=2,hosts=2",
    "dragonfly:groups=3,chassis=2,routers=4,hosts=2",
    "dragonfly:groups=4,chassis=3,routers=5,hosts=1,black=3,blue=2",
    "dragonfly:groups=6,chassis=3,routers=2,hosts=1",
    "dragonfly:groups=4,chassis=4,routers=1,hosts=2",
    "torus:dims=1",
    "torus:dims=2",
    "torus:dims=7",
    "torus:dims=4x4x2",
    "torus:dims=5x3x4",
    "torus:dims=2x2x2x2",
    "torus:dims=1x6x1x3",
};

std::uint32_t hosts_of(const Platform& platform) {
  // A wiring of no ranks has all links of the network; every host has two named after it.
  const Wiring wiring(platform, 0);
  std::uint32_t hosts = 0;
  while (hosts * 2 < wiring.links().size() && wiring.links()[2 * hosts].name.starts_with("host-")) {
    ++hosts;
  }
  return hosts;
}

Wiring full(const Platform& platform) { return Wiring(platform, hosts_of(platform)); }

class Ways : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Ways, AreWellFormed) {
  const Platform platform = parse_platform_spec(GetParam());
  const Wiring wiring = full(platform);
  std::set<std::string> names;
  for (const Link& link : wiring.links()) {
    EXPECT_TRUE(names.insert(link.name).second) << link.name << " is two links";
    EXPECT_GT(link.rate.bits_per_second, 0u);
    EXPECT_TRUE(link.shared);
  }
  const std::uint32_t n = wiring.rank_count();
  for (std::uint32_t h = 0; h < n; ++h) {
    EXPECT_EQ(wiring.host_name(RankId(h)), "host-" + std::to_string(h));
    EXPECT_EQ(wiring.find_link("host-" + std::to_string(h) + ".out"), LinkId(2 * h));
    EXPECT_EQ(wiring.find_link("host-" + std::to_string(h) + ".in"), LinkId(2 * h + 1));
    EXPECT_EQ(wiring.links()[2 * h].rate, platform.rate);
    EXPECT_EQ(wiring.links()[2 * h + 1].rate, platform.rate);
  }
  for (std::uint32_t s = 0; s < n; ++s) {
    for (std::uint32_t d = 0; d < n; ++d) {
      const Route route = wiring.route(RankId(s), RankId(d));
      ASSERT_GE(route.links.size(), 2u);
      EXPECT_EQ(route.links.front(), LinkId(2 * s));
      EXPECT_EQ(route.links.back(), LinkId(2 * d + 1));
      for (std::size_t i = 1; i + 1 < route.links.size(); ++i) {
        ASSERT_GE(route.links[i].value, 2 * n) << "a NIC on the way";
        ASSERT_LT(route.links[i].value, wiring.links().size());
      }
      const std::set<LinkId> once(route.links.begin(), route.links.end());
      EXPECT_EQ(once.size(), route.links.size()) << s << " to " << d << " passes a link twice";
      EXPECT_EQ(wiring.route(RankId(d), RankId(s)).links.size(), route.links.size());
      EXPECT_TRUE(s != d || route.links.size() == 2);
    }
  }
}

TEST_P(Ways, TakeLatencyForEverySwitchAfterTheFirst) {
  Platform platform = parse_platform_spec(GetParam());
  platform.latency = Time{1000};
  platform.topology.hop_latency = Time{7};
  const Wiring wiring = full(platform);
  for (std::uint32_t s = 0; s < wiring.rank_count(); ++s) {
    for (std::uint32_t d = 0; d < wiring.rank_count(); ++d) {
      const Route route = wiring.route(RankId(s), RankId(d));
      // Between n links there are n − 1 switches.
      const auto switches = static_cast<std::int64_t>(route.links.size()) - 1;
      ASSERT_EQ(route.latency, Time{1000 + 7 * (switches - 1)});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfShape, Ways, ::testing::ValuesIn(kShapes));

// The links as a graph, from their names alone, and its distances by breadth-first search.
class NamedGraph {
 public:
  void join(const std::string& from, const std::string& to) { next_[from].push_back(to); }
  std::map<std::string, std::size_t> distances(const std::string& from) const {
    std::map<std::string, std::size_t> result = {{from, 0}};
    std::queue<std::string> waiting;
    for (waiting.push(from); !waiting.empty(); waiting.pop()) {
      const auto found = next_.find(waiting.front());
      if (found == next_.end()) continue;
      for (const std::string& to : found->second) {
        if (result.emplace(to, result[waiting.front()] + 1).second) waiting.push(to);
      }
    }
    return result;
  }

 private:
  std::map<std::string, std::vector<std::string>> next_;
};

// From which switch every inner link comes, and to which it leads.
struct Ends {
  std::map<std::string, std::string> from;
  std::map<std::string, std::string> to;
  std::vector<std::string> switch_of_host;
};

// Every link of the route begins where the one before it ended.
void check_walk(const Wiring& wiring, const Route& route, const Ends& ends, std::string at,
                const std::string& end) {
  for (std::size_t i = 1; i + 1 < route.links.size(); ++i) {
    const std::string& name = wiring.links()[route.links[i].value].name;
    ASSERT_EQ(ends.from.at(name), at) << name;
    at = ends.to.at(name);
  }
  ASSERT_EQ(at, end);
}

// As much as comes to a switch leaves it.
void check_parts(const Wiring& wiring, const Route& route, const Ends& ends,
                 const std::string& begin, const std::string& end) {
  std::map<std::string, std::int64_t> has = {{begin, route.parts}};
  has[end] -= route.parts;
  const std::set<LinkId> once(route.links.begin(), route.links.end());
  ASSERT_EQ(once.size(), route.links.size());
  for (std::size_t i = 1; i + 1 < route.links.size(); ++i) {
    ASSERT_GT(route.parts_on[i], 0u);
    const std::string& name = wiring.links()[route.links[i].value].name;
    has[ends.from.at(name)] -= route.parts_on[i];
    has[ends.to.at(name)] += route.parts_on[i];
  }
  for (const auto& [at, parts] : has) ASSERT_EQ(parts, 0) << at;
}

std::size_t parts_passing(const Route& route) {
  std::size_t all = 0;
  for (std::size_t i = 1; i + 1 < route.links.size(); ++i) all += route.parts_on[i];
  return all;
}

// With every routing: ways lead from the one host to the other, and but for Valiant's none is
// longer than it must be.
void check_against_bfs(Platform platform, const Ends& ends, bool shortest = true) {
  NamedGraph graph;
  for (const auto& [link, begin] : ends.from) graph.join(begin, ends.to.at(link));
  const Wiring own = full(platform);
  const auto routed = [&](Routing::Kind kind) {
    platform.topology.routing = {kind, 3};
    return full(platform);
  };
  const Wiring ecmp = routed(Routing::Kind::kEcmp);
  const Wiring valiant = routed(Routing::Kind::kValiant);
  const Wiring spray = routed(Routing::Kind::kSpray);
  ASSERT_EQ(ends.from.size() + 2 * ends.switch_of_host.size(), own.links().size());
  for (std::uint32_t s = 0; s < own.rank_count(); ++s) {
    const std::string& begin = ends.switch_of_host[s];
    const auto distances = graph.distances(begin);
    for (std::uint32_t d = 0; d < own.rank_count(); ++d) {
      const std::string& end = ends.switch_of_host[d];
      SCOPED_TRACE(own.links()[2 * s].name + " to " + own.links()[2 * d].name);
      const Route route = own.route(RankId(s), RankId(d));
      const std::size_t hops = route.links.size() - 2;
      ASSERT_NO_FATAL_FAILURE(check_walk(own, route, ends, begin, end));
      if (shortest) {
        ASSERT_EQ(hops, distances.at(end));
      }
      for (const std::uint32_t channel : {0, 1, 2}) {
        const Route hashed = ecmp.route(RankId(s), RankId(d), {channel, 0});
        ASSERT_EQ(hashed.links.size(), route.links.size());
        ASSERT_EQ(hashed.latency, route.latency);
        ASSERT_NO_FATAL_FAILURE(check_walk(ecmp, hashed, ends, begin, end));
      }
      ASSERT_NO_FATAL_FAILURE(
          check_walk(valiant, valiant.route(RankId(s), RankId(d)), ends, begin, end));
      const Route spread = spray.route(RankId(s), RankId(d));
      ASSERT_EQ(parts_passing(spread), hops * spread.parts);
      ASSERT_EQ(spread.latency, route.latency);
      ASSERT_NO_FATAL_FAILURE(check_parts(spray, spread, ends, begin, end));
    }
  }
}

TEST(Torus, WaysAreShortest) {
  const std::vector<std::vector<std::uint32_t>> shapes = {
      {1},    {2},    {3},    {4},       {5},       {8},         {9},
      {2, 2}, {3, 2}, {2, 3}, {4, 4, 2}, {5, 3, 4}, {2, 1, 6, 3}};
  for (const auto& dims : shapes) {
    Platform platform;
    platform.topology.shape = Torus{dims};
    platform.topology.hop_latency = Time{7};
    const std::uint32_t hosts = hosts_of(platform);
    Ends ends;
    auto& from = ends.from;
    auto& to = ends.to;
    auto& switches = ends.switch_of_host;
    for (std::uint32_t n = 0; n < hosts; ++n) {
      switches.push_back(std::to_string(n));
      std::uint32_t stride = 1;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        const std::uint32_t place = n / stride % dims[d];
        const auto link = [&](const std::string& way, std::uint32_t neighbour) {
          const std::string name =
              "router-" + std::to_string(n) + "." + way + "-" + std::to_string(d);
          from[name] = std::to_string(n);
          to[name] = std::to_string(n - place * stride + neighbour * stride);
        };
        if (dims[d] >= 2) link("plus", (place + 1) % dims[d]);
        if (dims[d] >= 3) link("minus", (place + dims[d] - 1) % dims[d]);
        stride *= dims[d];
      }
    }
    check_against_bfs(platform, ends);
  }
}

TEST(Torus, GoesThroughDimensionsInOrderAndUpWhenBothWaysAreEqual) {
  const Wiring wiring = full(parse_platform_spec("torus:dims=4x4"));
  const auto names = [&](std::uint32_t s, std::uint32_t d) {
    std::string text;
    for (const LinkId link : wiring.route(RankId(s), RankId(d)).links) {
      text += wiring.links()[link.value].name + " ";
    }
    return text;
  };
  EXPECT_EQ(names(0, 6), "host-0.out router-0.plus-0 router-1.plus-0 router-2.plus-1 host-6.in ");
  EXPECT_EQ(names(6, 0), "host-6.out router-6.plus-0 router-7.plus-0 router-4.minus-1 host-0.in ");
  EXPECT_EQ(names(0, 15), "host-0.out router-0.minus-0 router-3.minus-1 host-15.in ");
}

// Minimal routing takes one blue link at most. In groups of more chassis than one, where a group
// may have its gateways in any of them, two blue links can make a shorter way.
TEST(DragonflyShape, WaysAreShortestOfThoseWithOneBlueLink) {
  const std::vector<Dragonfly> shapes = {{1, 1, 1, 3}, {1, 1, 4, 2}, {1, 3, 2, 1},
                                         {2, 1, 2, 2}, {3, 2, 4, 2}, {4, 3, 5, 1},
                                         {6, 3, 2, 1}, {4, 4, 1, 2}, {5, 2, 5, 1}};
  for (const Dragonfly& shape : shapes) {
    Platform platform;
    platform.topology.shape = shape;
    const Wiring wiring = full(platform);
    NamedGraph one_blue;  // its nodes say whether a blue link lies behind
    Ends ends;
    auto& from = ends.from;
    auto& to = ends.to;
    auto& switches = ends.switch_of_host;
    const auto router = [&](std::uint32_t group, std::uint32_t chassis, std::uint32_t place) {
      return std::to_string((group * shape.chassis + chassis) * shape.routers + place);
    };
    const auto join = [&](const std::string& a, const std::string& colour, const std::string& b) {
      const std::string name = "router-" + a + "." + colour + "-" + b;
      from[name] = a;
      to[name] = b;
      for (const std::string blue : {"-", "b"}) one_blue.join(a + blue, b + blue);
    };
    for (std::uint32_t g = 0; g < shape.groups; ++g) {
      for (std::uint32_t c = 0; c < shape.chassis; ++c) {
        for (std::uint32_t b = 0; b < shape.routers; ++b) {
          switches.insert(switches.end(), shape.hosts, router(g, c, b));
          for (std::uint32_t other = 0; other < shape.routers; ++other) {
            if (other != b) join(router(g, c, b), "green", router(g, c, other));
          }
          for (std::uint32_t other = 0; other < shape.chassis; ++other) {
            if (other != c) join(router(g, c, b), "black", router(g, other, b));
          }
        }
      }
      for (std::uint32_t other = 0; other < shape.groups; ++other) {
        if (other == g) continue;
        const std::string name = "group-" + std::to_string(g) + ".blue-" + std::to_string(other);
        from[name] = router(g, other / shape.routers, other % shape.routers);
        to[name] = router(other, g / shape.routers, g % shape.routers);
        one_blue.join(from[name] + "-", to[name] + "b");
      }
    }
    check_against_bfs(platform, ends, shape.groups <= shape.routers);
    for (std::uint32_t s = 0; s < wiring.rank_count(); ++s) {
      const auto distances = one_blue.distances(switches[s] + "-");
      for (std::uint32_t d = 0; d < wiring.rank_count(); ++d) {
        const bool far =
            s / (wiring.rank_count() / shape.groups) != d / (wiring.rank_count() / shape.groups);
        ASSERT_EQ(wiring.route(RankId(s), RankId(d)).links.size() - 2,
                  distances.at(switches[d] + (far ? "b" : "-")));
      }
    }
  }
}

TEST(DragonflyShape, BundlesTheCablesOfTwoRouters) {
  const Wiring wiring = full(parse_platform_spec(
      "dragonfly:groups=2,chassis=2,routers=2,hosts=1,green=2,black=3,blue=5,green_rate=10Gbps,"
      "link_rate=20Gbps,blue_rate=1Gbps,rate=7Gbps"));
  EXPECT_EQ(wiring.links()[wiring.find_link("router-0.green-1")->value].rate, Rate{20'000'000'000});
  EXPECT_EQ(wiring.links()[wiring.find_link("router-0.black-2")->value].rate, Rate{60'000'000'000});
  EXPECT_EQ(wiring.links()[wiring.find_link("group-0.blue-1")->value].rate, Rate{5'000'000'000});
}

TEST(FatTreeShape, WaysTurnAtTheNearestSwitchAndGoDownFromIt) {
  for (const std::string_view text : kShapes) {
    if (!text.starts_with("fat-tree")) continue;
    const Platform platform = parse_platform_spec(text);
    const auto& tree = std::get<FatTree>(platform.topology.shape);
    const Wiring wiring = full(platform);
    const std::uint32_t n = wiring.rank_count();
    for (std::uint32_t s = 0; s < n; ++s) {
      for (std::uint32_t d = 0; d < n; ++d) {
        std::size_t level = 0;  // of the nearest switch above both
        for (std::uint32_t below = 1; level == 0 || s / below != d / below; ++level) {
          below *= tree.down[level];
        }
        const Route route = wiring.route(RankId(s), RankId(d));
        ASSERT_EQ(route.links.size(), 2 * level) << text << ": " << s << " to " << d;
      }
    }
  }
}

// Of ports as labelled by the general form: the two ends of a cable differ in the one digit that
// stands between their levels.
TEST(FatTreeShape, EveryLinkBeginsWhereTheOneBeforeEnded) {
  for (const std::string_view text : kShapes) {
    if (!text.starts_with("fat-tree")) continue;
    const Platform platform = parse_platform_spec(text);
    const auto& tree = std::get<FatTree>(platform.topology.shape);
    const std::size_t levels = tree.down.size();
    const auto radix = [&](std::size_t digit, std::size_t level) {
      return digit < level ? tree.up[digit] : tree.down[digit];
    };
    const auto name = [](std::size_t level, std::uint32_t node) {
      return std::to_string(level) + "-" + std::to_string(node);
    };
    const std::uint32_t hosts = hosts_of(platform);
    Ends ends;
    auto& from = ends.from;
    auto& to = ends.to;
    auto& switches = ends.switch_of_host;
    for (std::size_t l = 1; l < levels; ++l) {
      std::uint32_t nodes = 1;
      for (std::size_t digit = 0; digit < levels; ++digit) nodes *= radix(digit, l);
      for (std::uint32_t node = 0; node < nodes; ++node) {
        for (std::uint32_t port = 0;
             port < tree.up[l] * (tree.parallel.empty() ? 1 : tree.parallel[l]); ++port) {
          std::uint32_t rest = node;
          std::uint32_t parent = 0;
          std::uint32_t weight = 1;
          for (std::size_t digit = 0; digit < levels; ++digit) {
            const std::uint32_t own = rest % radix(digit, l);
            rest /= radix(digit, l);
            parent += weight * (digit == l ? port % tree.up[l] : own);
            weight *= radix(digit, l + 1);
          }
          const std::string at = "switch-" + name(l, node);
          from[at + ".up-" + std::to_string(port)] = name(l, node);
          to[at + ".up-" + std::to_string(port)] = name(l + 1, parent);
          from[at + ".down-" + std::to_string(port)] = name(l + 1, parent);
          to[at + ".down-" + std::to_string(port)] = name(l, node);
        }
      }
    }
    for (std::uint32_t h = 0; h < hosts; ++h) switches.push_back(name(1, h / tree.down[0]));
    check_against_bfs(platform, ends);
  }
}

// In two levels the port up is the whole choice: over very many pairs each has its share, and
// another seed gives other ways.
TEST(FatTreeShape, EcmpUsesAllPortsAlike) {
  const Wiring wiring = full(parse_platform_spec("fat-tree:down=16x16,up=1x8,routing=ecmp:1"));
  const Wiring other = full(parse_platform_spec("fat-tree:down=16x16,up=1x8,routing=ecmp:2"));
  std::map<LinkId, double> used;
  std::uint32_t differ = 0;
  for (std::uint32_t s = 0; s < 256; ++s) {
    for (std::uint32_t d = 0; d < 256; ++d) {
      if (s / 16 == d / 16) continue;
      const auto links = wiring.route(RankId(s), RankId(d)).links;
      ++used[links[1]];
      differ += links[1] != other.route(RankId(s), RankId(d)).links[1];
    }
  }
  ASSERT_EQ(used.size(), 16u * 8u);
  // 16 · 240 pairs leave each leaf, 480 by each port; a standard deviation is 20.5.
  double squares = 0;
  for (const auto& [link, pairs] : used) {
    EXPECT_NEAR(pairs, 480, 5 * 20.5);
    squares += (pairs - 480) * (pairs - 480) / 480;
  }
  EXPECT_NEAR(squares, 16 * 7, 5 * 15);  // chi-square of 16 · 7 degrees of freedom
  EXPECT_NEAR(differ, 256 * 240 * 7 / 8, 1'000);
}

// By brute force: every way is a shortest one to some third host, and a shortest one from there.
TEST(Valiant, GoesByWayOfAThirdPlace) {
  for (const std::string text :
       {"torus:dims=4x3", "torus:dims=5x2x2", "dragonfly:groups=5,chassis=2,routers=3,hosts=2",
        "dragonfly:groups=2,chassis=1,routers=2,hosts=2"}) {
    const Wiring minimal = full(parse_platform_spec(text));
    const Wiring wiring = full(parse_platform_spec(text + ",routing=valiant:9"));
    const std::uint32_t n = wiring.rank_count();
    const auto inner = [](const Wiring& of, std::uint32_t s, std::uint32_t d) {
      const auto links = of.route(RankId(s), RankId(d)).links;
      return std::vector<LinkId>(links.begin() + 1, links.end() - 1);
    };
    std::set<std::uint32_t> thirds;
    std::uint32_t longer = 0;
    for (std::uint32_t s = 0; s < n; ++s) {
      for (std::uint32_t d = 0; d < n; ++d) {
        const std::vector<LinkId> way = inner(wiring, s, d);
        longer += way.size() > inner(minimal, s, d).size();
        bool is_found = false;
        for (std::uint32_t third = 0; third < n && !is_found; ++third) {
          std::vector<LinkId> both = inner(minimal, s, third);
          const std::vector<LinkId> rest = inner(minimal, third, d);
          both.insert(both.end(), rest.begin(), rest.end());
          is_found = both == way;
          if (is_found) thirds.insert(third);
        }
        ASSERT_TRUE(is_found) << text << ": " << s << " to " << d;
      }
    }
    EXPECT_EQ(longer > 0, !text.starts_with("dragonfly:groups=2")) << text;
    EXPECT_GT(thirds.size(), n / 4) << text;
  }
}

TEST(Routing, IsSaidAndReadBack) {
  for (const std::string text :
       {"fat-tree:arity=4,routing=ecmp:7", "torus:dims=4,routing=valiant:18446744073709551615",
        "torus:dims=4,routing=ecmp:0", "fat-tree:arity=4,routing=spray",
        "dragonfly:groups=2,chassis=1,routers=2,hosts=1,routing=spray"}) {
    const Platform platform = parse_platform_spec(text);
    EXPECT_EQ(parse_platform_spec(platform.spec()).spec(), platform.spec());
    EXPECT_THAT(platform.spec(), HasSubstr(text.substr(text.find("routing"))));
  }
  EXPECT_EQ(parse_platform_spec("torus:dims=4,routing=minimal").spec(),
            parse_platform_spec("torus:dims=4").spec());
  EXPECT_EQ(parse_platform_spec("torus:dims=4,routing=valiant").spec(),
            parse_platform_spec("torus:dims=4,routing=valiant:0").spec());
  EXPECT_THAT(error_of([] { parse_platform_spec("torus:dims=4,routing=d-mod-k"); }),
              HasSubstr("'d-mod-k' is no routing here; expected minimal, ecmp, ecmp:SEED, valiant, "
                        "valiant:SEED or spray"));
  EXPECT_THAT(error_of([] { parse_platform_spec("fat-tree:arity=4,routing=spray:1"); }),
              HasSubstr("'spray:1' has a seed, and spraying draws nothing; expected spray"));
  EXPECT_THAT(error_of([] { parse_platform_spec("fat-tree:arity=160,routing=spray"); }),
              HasSubstr("spraying over 6400 ways; expected at most 4096"));
  EXPECT_THAT(error_of([] { parse_platform_spec("fat-tree:arity=4,routing=ecmp:x"); }),
              HasSubstr("routing"));
  EXPECT_THAT(error_of([] { parse_platform_spec("star:routing=ecmp"); }),
              HasSubstr("takes no key 'routing'"));
}

// Full bisection: every switch has as many ports up as down.
TEST(FatTreeShape, ShiftsNeverMeetInAFullTree) {
  for (const std::string_view text :
       {"fat-tree:down=4x4,up=1x4", "fat-tree:down=4x4,up=1x2,parallel=1x2",
        "fat-tree:down=4x4,up=1x1,parallel=1x4", "fat-tree:down=6x3,up=1x2,parallel=1x3",
        "fat-tree:down=2x3x4,up=1x2x3", "fat-tree:down=4x2x3,up=1x2x4,parallel=1x2x1",
        "fat-tree:down=4x2x3,up=1x4x1,parallel=1x1x2",
        "fat-tree:down=4x2x2x2,up=1x2x2x2,parallel=1x2x2x2",
        "fat-tree:down=4x3x4,up=1x4x1,parallel=1x1x3", "fat-tree:arity=2", "fat-tree:arity=4",
        "fat-tree:arity=6", "fat-tree:arity=8"}) {
    const Wiring wiring = full(parse_platform_spec(text));
    const std::uint32_t n = wiring.rank_count();
    for (std::uint32_t shift = 1; shift < n; ++shift) {
      std::set<LinkId> used;
      for (std::uint32_t s = 0; s < n; ++s) {
        for (const LinkId link : wiring.route(RankId(s), RankId((s + shift) % n)).links) {
          ASSERT_TRUE(used.insert(link).second)
              << text << ", shift " << shift << ": " << wiring.links()[link.value].name;
        }
      }
    }
  }
}

TEST(FatTreeShape, ShiftsMeetInATreeOfHalfBisection) {
  const Wiring wiring = full(parse_platform_spec("fat-tree:down=4x4,up=1x2"));
  std::map<LinkId, int> used;
  for (std::uint32_t s = 0; s < 16; ++s) {
    for (const LinkId link : wiring.route(RankId(s), RankId((s + 4) % 16)).links) ++used[link];
  }
  for (const auto& [link, messages] : used) EXPECT_EQ(messages, link.value < 32 ? 1 : 2);
}

TEST(TwoLevelShape, DividesTheRackByItsOversubscription) {
  const auto uplink = [](const std::string& figures) {
    const Wiring wiring(parse_platform_spec("two-level:racks=2,hosts=16," + figures), 2);
    const Rate up = wiring.links()[wiring.find_link("rack-1.up")->value].rate;
    EXPECT_EQ(wiring.links()[wiring.find_link("rack-1.down")->value].rate, up);
    return up;
  };
  EXPECT_EQ(uplink("rate=56Gbps"), Rate{896'000'000'000});
  EXPECT_EQ(uplink("rate=56Gbps,oversubscription=4"), Rate{224'000'000'000});
  EXPECT_EQ(uplink("rate=56Gbps,oversubscription=3.5"), Rate{256'000'000'000});
  EXPECT_EQ(uplink("rate=56Gbps,oversubscription=0.5"), Rate{1'792'000'000'000});
  EXPECT_EQ(uplink("rate=56Gbps,oversubscription=3"), Rate{298'666'666'667});
  EXPECT_EQ(uplink("rate=56Gbps,uplink=9Gbps"), Rate{9'000'000'000});
}

TEST(TwoLevelShape, LeavesTheRackOnlyForAnother) {
  const Wiring wiring = full(parse_platform_spec("two-level:racks=3,hosts=4"));
  EXPECT_EQ(wiring.route(RankId(4), RankId(7)).links, (std::vector{LinkId(8), LinkId(15)}));
  EXPECT_EQ(wiring.route(RankId(4), RankId(8)).links,
            (std::vector{LinkId(8), *wiring.find_link("rack-1.up"),
                         *wiring.find_link("rack-2.down"), LinkId(17)}));
}

TEST(Apt, HasAboutSixteenGigabitsForEachNodeOfARack) {
  const Wiring wiring(load_platform("apt"), 192);
  const Rate up = wiring.links()[wiring.find_link("rack-0.up")->value].rate;
  EXPECT_EQ(up, Rate{28 * 16'000'000'000ull});
}

TEST(WiringOf, AStarHasAHostForEveryRankAndNothingElse) {
  const Wiring wiring(parse_platform_spec("star:latency=3us"), 5);
  EXPECT_EQ(wiring.links().size(), 10u);
  const Route route = wiring.route(RankId(3), RankId(1));
  EXPECT_EQ(route.links, (std::vector{LinkId(6), LinkId(3)}));
  EXPECT_EQ(route.latency, Time{3'000'000});
}

TEST(WiringOf, ALargeNetworkIsLaidOut) {
  const Wiring wiring(parse_platform_spec("torus:dims=64x64x64"), 1u << 18);
  EXPECT_EQ(wiring.links().size(), 8u << 18);
  EXPECT_EQ(wiring.route(RankId(0), RankId((1u << 18) - 1)).links.size(), 5u);
  EXPECT_EQ(wiring.find_link("router-262143.minus-2"), LinkId((8u << 18) - 1));
  EXPECT_EQ(wiring.find_link("router-262144.minus-2"), std::nullopt);
}

TEST(WiringOf, ALatencyNeverOverflows) {
  const std::string most = "9223372036854775806ps";
  const Wiring wiring(parse_platform_spec("torus:dims=9,latency=" + most + ",hop_latency=" + most),
                      9);
  EXPECT_EQ(wiring.route(RankId(0), RankId(0)).latency, Time{9223372036854775806});
  EXPECT_THROW(wiring.route(RankId(0), RankId(4)), InputError);
}

TEST(WiringOf, RefusesWhatCannotBeLaidOut) {
  const auto error = [](const Platform& platform, std::uint32_t ranks) {
    try {
      const Wiring wiring(platform, ranks);
    } catch (const InputError& refusal) {
      return std::string("input: ") + refusal.what();
    } catch (const Unsupported& refusal) {
      return std::string("unsupported: ") + refusal.what();
    }
    return std::string();
  };
  EXPECT_EQ(error(parse_platform_spec("torus:dims=2x2"), 5),
            "input: platform 'torus:dims=2x2': 5 ranks on 4 hosts; expected no more ranks than "
            "hosts");
  EXPECT_THAT(error(parse_platform_spec("simgrid:file=net.xml"), 2),
              HasSubstr("unsupported: topology simgrid: only SimGrid reads 'net.xml'; expected the "
                        "wiring that it finds there"));
  // A platform need not come from a text.
  Platform platform;
  platform.topology.shape = TwoLevel{0, 4};
  EXPECT_THAT(error(platform, 1), HasSubstr("input: platform 'custom': racks is missing"));
  platform.topology.shape = TwoLevel{2, 4, {}, 0};
  EXPECT_THAT(error(platform, 1), HasSubstr("leaves the racks no rate"));
  platform.topology.shape = FatTree{{2, 0}, {1, 1}, {}};
  EXPECT_THAT(error(platform, 1), HasSubstr("down is missing"));
  platform.topology.shape = FatTree{{2, 2}, {1, 0}, {}};
  EXPECT_THAT(error(platform, 1), HasSubstr("up has a 0"));
  platform.topology.shape = Torus{{2, 0}};
  EXPECT_THAT(error(platform, 1), HasSubstr("input"));
}

TEST(Wiring, RefusesWaysThatTakeLongerThanATime) {
  const auto refusal = [](const std::string& spec) -> std::string {
    return testing::error_of([&] {
      const Wiring wiring(parse_platform_spec(spec), 4);
      for (std::uint32_t r = 0; r < 4; ++r) wiring.route(RankId(0), RankId(r));
    });
  };
  // Three switches: the latency, and twice the hop's.
  const std::string racks = "two-level:racks=2,hosts=2,rate=8Gbps,latency=1s,hop_latency=";
  EXPECT_EQ(refusal(racks + "4611685s"), "");
  EXPECT_EQ(refusal(racks + "4611686s"),
            "hop_latency: a way past 3 switches takes 106 days or more; expected less");
  const std::string zones = "star:ranks_per_node=4,zones_per_node=2,memory_latency=5000000s,";
  EXPECT_EQ(refusal(zones + "zone_latency=4223372s"), "");
  EXPECT_EQ(refusal(zones + "zone_latency=4223373s"),
            "zone_latency: 106 days or more with memory_latency; expected less");
}

}  // namespace
}  // namespace slackline::machine
