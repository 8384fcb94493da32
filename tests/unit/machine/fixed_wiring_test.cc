// A network that somebody else found out.
#include <gtest/gtest.h>

#include "base/error.h"
#include "machine/wiring.h"

namespace slackline::machine {
namespace {

using sched::RankId;

Wiring three_hosts() {
  Node node;
  node.ranks = 2;
  node.memory_latency = sched::Time{70};
  return Wiring({"a", "b", "c"}, {{"one", Rate{10}}, {"two", Rate{20}, false}, {"three", Rate{30}}},
                {{RankId(0), RankId(2), {{LinkId(2), LinkId(0)}, sched::Time{500}}},
                 {RankId(2), RankId(0), {{LinkId(1)}, sched::Time{600}}}},
                node, Rate{90});
}

TEST(FixedWiring, HasTheLinksItWasTold) {
  const Wiring wiring = three_hosts();
  ASSERT_EQ(wiring.links().size(), 3u);
  EXPECT_EQ(wiring.links()[1].name, "two");
  EXPECT_EQ(wiring.links()[1].rate, Rate{20});
  EXPECT_FALSE(wiring.links()[1].shared);
  EXPECT_EQ(wiring.find_link("three"), LinkId(2));
  EXPECT_EQ(wiring.find_link("thre"), std::nullopt);
}

TEST(FixedWiring, HasTheRanksItWasTold) {
  const Wiring wiring = three_hosts();
  EXPECT_EQ(wiring.rank_count(), 3u);
  EXPECT_EQ(wiring.host_name(RankId(1)), "b");
  EXPECT_EQ(wiring.host_name(RankId(2)), "c");
  EXPECT_EQ(wiring.rack(RankId(2)), 0u);
  EXPECT_EQ(wiring.node().ranks, 2u);
}

TEST(FixedWiring, HasTheRoutesItWasTold) {
  const Wiring wiring = three_hosts();
  const Route there = wiring.route(RankId(0), RankId(2));
  EXPECT_EQ(there.links, (std::vector<LinkId>{LinkId(2), LinkId(0)}));
  EXPECT_EQ(there.latency, sched::Time{500});
  EXPECT_FALSE(there.local);
  const Route back = wiring.route(RankId(2), RankId(0));
  EXPECT_EQ(back.links, (std::vector<LinkId>{LinkId(1)}));
  EXPECT_EQ(back.latency, sched::Time{600});
  EXPECT_THROW(wiring.route(RankId(1), RankId(2)), InternalError);
}

TEST(FixedWiring, LocalRoutesFollowFromTheNode) {
  const Wiring wiring = three_hosts();
  const Route local = wiring.route(RankId(0), RankId(1));
  EXPECT_TRUE(local.local);
  EXPECT_TRUE(local.links.empty());
  EXPECT_EQ(local.latency, sched::Time{70});
  EXPECT_EQ(local.copy_rate, Rate{90});
}

TEST(FixedWiring, RefusesALatencyBetweenZonesWithoutEnd) {
  Node node;
  node.ranks = 2;
  node.memory_latency = sched::Time{1};
  node.zone_latency = sched::kForever - sched::Time{2};
  EXPECT_NO_THROW(Wiring({"a"}, {}, {}, node));
  node.zone_latency = sched::kForever - sched::Time{1};
  EXPECT_THROW(Wiring({"a"}, {}, {}, node), InputError);
}

}  // namespace
}  // namespace slackline::machine
