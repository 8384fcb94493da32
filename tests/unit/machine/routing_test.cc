// What each routing does to links: counted by hand, and against the chances of its draws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "tests/support/permutation.h"

namespace slackline::machine {
namespace {

using sched::RankId;
using testing::Pairs;

Wiring wiring_of(const std::string& spec, std::uint32_t hosts) {
  return Wiring(parse_platform_spec(spec), hosts);
}

// How many messages pass each link if each pair sends one; parts of messages count as such.
std::map<std::string, double> loads(const Wiring& wiring, const Pairs& pairs) {
  std::map<std::string, double> loads;
  for (const auto& [src, dst] : pairs) {
    const Route route = wiring.route(RankId(src), RankId(dst));
    for (std::size_t l = 1; l + 1 < route.links.size(); ++l) {
      loads[wiring.links()[route.links[l].value].name] +=
          route.parts_on.empty() ? 1 : static_cast<double>(route.parts_on[l]) / route.parts;
    }
  }
  return loads;
}

double greatest(const std::map<std::string, double>& loads) {
  double most = 0;
  for (const auto& [link, load] : loads) most = std::max(most, load);
  return most;
}

Pairs all_pairs(std::uint32_t hosts) {
  Pairs pairs;
  for (std::uint32_t s = 0; s < hosts; ++s) {
    for (std::uint32_t d = 0; d < hosts; ++d) {
      if (s != d) pairs.emplace_back(s, d);
    }
  }
  return pairs;
}

// The four hosts of a leaf send to four other leaves, each to the first host there.
const Pairs kSameDigit = {{0, 4}, {1, 8}, {2, 12}, {3, 16}};
constexpr const char* kTree = "fat-tree:down=4x5,up=1x4";

TEST(Routing, DModKPutsDestinationsOfOneDigitOnOnePort) {
  const auto found = loads(wiring_of(kTree, 20), kSameDigit);
  EXPECT_EQ(found.at("switch-1-0.up-0"), 4);
  EXPECT_EQ(found.size(), 5u);  // and a way down each
}

TEST(Routing, SprayPutsAQuarterOfEachOnEveryPort) {
  const auto found = loads(wiring_of(std::string(kTree) + ",routing=spray", 20), kSameDigit);
  ASSERT_EQ(found.size(), 4u + 16u);
  for (const auto& [link, load] : found) {
    EXPECT_EQ(load, link.starts_with("switch-1-0.up") ? 1 : 0.25) << link;
  }
}

// Of four draws of four ports: all differ in 4!/4^4 of the cases, all are one in 4/4^4.
TEST(Routing, EcmpMeetsAsOftenAsDrawsDo) {
  constexpr int kSeeds = 20'000;
  std::map<double, int> times;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::string spec = kTree + (",routing=ecmp:" + std::to_string(seed));
    ++times[greatest(loads(wiring_of(spec, 20), kSameDigit))];
  }
  const auto expect_share = [&](double most, double share) {
    const double deviation = std::sqrt(kSeeds * share * (1 - share));
    EXPECT_NEAR(times[most], kSeeds * share, 5 * deviation) << most;
  };
  expect_share(1, 24.0 / 256);
  expect_share(2, (144.0 + 36) / 256);  // one pair, two pairs
  expect_share(3, 48.0 / 256);
  expect_share(4, 4.0 / 256);
}

// Spraying is what ECMP does on the average of many channels: link by link, on every topology.
TEST(Routing, SprayIsTheMeanOfEcmp) {
  constexpr std::uint32_t kChannels = 4'000;
  for (const auto& [spec, hosts] : std::vector<std::pair<std::string, std::uint32_t>>{
           {"fat-tree:down=2x3x2x2,up=1x1x2x3,parallel=1x3x1x2", 24},
           {"fat-tree:down=2x2x2,up=1x3x2", 8},
           {"dragonfly:groups=2,chassis=3,routers=2,hosts=1", 12},
           {"torus:dims=4x2x6", 48}}) {
    const Wiring spray = wiring_of(spec + ",routing=spray", hosts);
    const Wiring ecmp = wiring_of(spec + ",routing=ecmp:5", hosts);
    ASSERT_TRUE(ecmp.is_by_channel());
    ASSERT_FALSE(spray.is_by_channel());
    for (const std::uint32_t dst : {1u, hosts / 2, hosts - 1}) {
      std::map<LinkId, double> times;
      for (std::uint32_t channel = 0; channel < kChannels; ++channel) {
        for (const LinkId link : ecmp.route(RankId(0), RankId(dst), {channel, 0}).links)
          ++times[link];
      }
      const Route route = spray.route(RankId(0), RankId(dst));
      ASSERT_EQ(times.size(), route.links.size()) << spec;
      for (std::size_t l = 0; l < route.links.size(); ++l) {
        const double share =
            route.parts_on.empty() ? 1 : static_cast<double>(route.parts_on[l]) / route.parts;
        const double deviation = std::sqrt(kChannels * share * (1 - share));
        EXPECT_NEAR(times[route.links[l]], kChannels * share, 5 * deviation)
            << spec << ", to " << dst << ": " << spray.links()[route.links[l].value].name;
      }
    }
  }
}

// In a ring of 8 a host reaches 3 by plus, 3 by minus, and one by either: 1 + 2 + 3 + 4 links.
TEST(Routing, TiesOfARingAreSplit) {
  for (const auto& [routing, plus, minus] :
       {std::tuple("minimal", 10.0, 6.0), std::tuple("spray", 8.0, 8.0)}) {
    const auto found =
        loads(wiring_of(std::string("torus:dims=8,routing=") + routing, 8), all_pairs(8));
    ASSERT_EQ(found.size(), 16u);
    for (const auto& [link, load] : found) {
      EXPECT_EQ(load, link.find("plus") != std::string::npos ? plus : minus) << link;
    }
  }
  double plus = 0;
  for (int seed = 0; seed < 1'000; ++seed) {
    const auto found =
        loads(wiring_of("torus:dims=8,routing=ecmp:" + std::to_string(seed), 8), all_pairs(8));
    double both = 0;
    for (const auto& [link, load] : found) {
      both += load;
      if (link.find("plus") != std::string::npos) plus += load;
    }
    EXPECT_EQ(both, 128);
  }
  // Of 8 tied pairs each goes up in half of the cases, by 4 links.
  EXPECT_NEAR(plus / 1'000, 64, 5 * 4 * std::sqrt(8 * 0.25 / 1'000));
}

// A way to a drawn host and on from there: two legs of 2 links on the average, as the mean distance
// in a ring of 8 is 16/8. Minimal ways of two different hosts have 16/7. So all pairs together have
// 7/4 as much to carry; in large rings it is twice as much, and half is left of the throughput.
TEST(Routing, ValiantCostsUniformTrafficNearlyHalf) {
  double hops = 0;
  constexpr int kSeeds = 500;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::string spec = "torus:dims=8,routing=valiant:" + std::to_string(seed);
    for (const auto& [link, load] : loads(wiring_of(spec, 8), all_pairs(8))) hops += load;
  }
  const double pairs = 56.0 * kSeeds;
  // A leg's length has a variance of 44/8 − 4; that of two legs is at most four times as much.
  EXPECT_NEAR(hops / pairs, 4, 5 * std::sqrt(4 * 1.5 / pairs));
}

// The tornado: everybody sends as far as the shorter way goes. Minimal ways use one direction only.
TEST(Routing, ValiantBalancesTheTornado) {
  Pairs tornado;
  for (std::uint32_t s = 0; s < 9; ++s) tornado.emplace_back(s, (s + 4) % 9);
  const auto minimal = loads(wiring_of("torus:dims=9", 9), tornado);
  EXPECT_EQ(minimal.size(), 9u);
  for (const auto& [link, load] : minimal) EXPECT_EQ(load, 4) << link;
  std::map<std::string, double> mean;
  constexpr int kSeeds = 2'000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::string spec = "torus:dims=9,routing=valiant:" + std::to_string(seed);
    for (const auto& [link, load] : loads(wiring_of(spec, 9), tornado)) mean[link] += load / kSeeds;
  }
  // Two legs of 20/9 links, over two links of each router.
  ASSERT_EQ(mean.size(), 18u);
  for (const auto& [link, load] : mean) EXPECT_NEAR(load, 20.0 / 9, 0.2) << link;
}

// Every host sends to the next group. Minimal ways pass one blue link of each group; Valiant's pass
// all others, none of them this one, each with 2 / (groups − 2) of a group's messages.
TEST(Routing, ValiantSpreadsWhatGoesToTheNextGroup) {
  const std::string spec = "dragonfly:groups=6,chassis=1,routers=6,hosts=2";
  Pairs pairs;
  for (std::uint32_t s = 0; s < 72; ++s) pairs.emplace_back(s, (s + 12) % 72);
  const auto minimal = loads(wiring_of(spec, 72), pairs);
  EXPECT_EQ(minimal.at("group-5.blue-0"), 12);
  EXPECT_EQ(minimal.count("group-0.blue-5"), 0u);
  std::map<std::string, double> mean;
  constexpr int kSeeds = 500;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::string valiant = spec + ",routing=valiant:" + std::to_string(seed);
    for (const auto& [link, load] : loads(wiring_of(valiant, 72), pairs)) {
      mean[link] += load / kSeeds;
    }
  }
  for (std::uint32_t i = 0; i < 6; ++i) {
    for (std::uint32_t j = 0; j < 6; ++j) {
      if (i == j) continue;
      const std::string link = "group-" + std::to_string(i) + ".blue-" + std::to_string(j);
      // 24 messages may pass it, each in a quarter of the cases.
      const double deviation = std::sqrt(24 * 0.25 * 0.75 / kSeeds);
      EXPECT_NEAR(mean[link], (i + 1) % 6 == j ? 0 : 6, (i + 1) % 6 == j ? 0 : 5 * deviation)
          << link;
    }
  }
}

// Valiant's ways in a tree pass its last level; in two levels they are ECMP's of the first channel.
TEST(Routing, ValiantGoesOverTheLastLevelOfATree) {
  const Wiring three = wiring_of("fat-tree:arity=4,routing=valiant:1", 16);
  for (const auto& [src, dst] : all_pairs(16)) {
    EXPECT_EQ(three.route(RankId(src), RankId(dst)).links.size(), src / 2 == dst / 2 ? 2u : 6u);
  }
  const Wiring two = wiring_of(std::string(kTree) + ",routing=valiant:1", 20);
  const Wiring ecmp = wiring_of(std::string(kTree) + ",routing=ecmp:1", 20);
  for (const auto& [src, dst] : all_pairs(20)) {
    EXPECT_EQ(two.route(RankId(src), RankId(dst)).links,
              ecmp.route(RankId(src), RankId(dst)).links);
  }
}

// A sprayed message has of each link what its share needs; it is lost if any of its ways is.
TEST(Routing, PathsKnowTheShareOfEveryLink) {
  const sched::Schedule schedule = testing::permutation(20, {{0, 4}, {1, 2}}, 1'000);
  const Platform platform =
      parse_platform_spec(std::string(kTree) + ",rate=80Gbps,link_rate=8Gbps,routing=spray");
  const Wiring wiring(platform, 20);
  DelayPlan plan;
  plan.link_rates.push_back({"switch-1-0.up-2", Rate{4'000'000'000}, Time{1'000'000}});
  const Paths paths(schedule, wiring, plan);
  const PathId far = paths.of(sched::ChannelId(0), false);
  EXPECT_EQ(paths[far].parts, 4u);
  EXPECT_EQ(paths.common_parts(), 4u);
  ASSERT_EQ(paths.links(far).size(), 2u + 8u);
  EXPECT_EQ(paths.share(far, 0), 1);
  EXPECT_EQ(paths.share(far, 1), 0.25);
  EXPECT_EQ(paths.share(far, 9), 1);
  EXPECT_EQ(paths.bytes_over(far, 1, 1'001), 250u);
  EXPECT_EQ(paths.bytes_over(far, 0, 1'001), 1'001u);
  EXPECT_EQ(paths.bytes_over(far, 1, ~std::uint64_t{0}), ~std::uint64_t{0} / 4);
  EXPECT_EQ(paths.bytes_per_s(0, far), 4e9);     // four links of 8 Gb/s
  EXPECT_EQ(paths.bytes_per_s(2e-6, far), 2e9);  // the slowest holds the others back
  const PathId near = paths.of(sched::ChannelId(1), false);
  EXPECT_EQ(paths[near].parts, 1u);
  EXPECT_EQ(paths.bytes_per_s(0, near), 1e10);
  DelayPlan failing;
  failing.failures.push_back({"switch-1-1.down-3", RankId::none(), Time{5'000'000}});
  const Paths cut(schedule, wiring, failing);
  EXPECT_DOUBLE_EQ(cut[far].cut_s, 5e-6);
  EXPECT_TRUE(std::isinf(cut[near].cut_s));
}

// Channels between two ranks are told apart in the order of their numbers, and answers go by the
// way of their channel's number.
TEST(Routing, EcmpTellsChannelsApart) {
  const sched::Schedule schedule =
      testing::permutation(20, {{0, 4}, {4, 0}, {0, 4}, {0, 8}, {4, 0}}, 1'000);
  const Wiring ecmp = wiring_of(std::string(kTree) + ",routing=ecmp:3", 20);
  const auto numbers = [&](const Wiring& wiring) {
    std::vector<std::uint32_t> ways;
    for (const ChannelNumber& number : numbers_between_ranks(schedule, wiring)) {
      ways.push_back(number.way);
    }
    return ways;
  };
  EXPECT_THAT(numbers(ecmp), ::testing::ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(numbers(wiring_of(kTree, 20)), ::testing::Each(0));
  const Paths paths(schedule, ecmp, {});
  EXPECT_EQ(paths.size(), 6u);  // 0 to 4 and 4 to 0 twice each, 0 to 8 and back
  for (std::uint32_t c = 0; c < 5; ++c) {
    const sched::Channel& channel = schedule.channels()[c];
    const std::uint32_t number = c == 2 || c == 4 ? 1 : 0;
    const auto links = paths.links(paths.of(sched::ChannelId(c), false));
    EXPECT_EQ(std::vector(links.begin(), links.end()),
              ecmp.route(channel.src, channel.dst, {number, 0}).links);
    const auto back = paths.links(paths.of(sched::ChannelId(c), true));
    EXPECT_EQ(std::vector(back.begin(), back.end()),
              ecmp.route(channel.dst, channel.src, {number, 0}).links);
  }
}

}  // namespace
}  // namespace slackline::machine
