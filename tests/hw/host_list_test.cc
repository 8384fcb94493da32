// Lists of hosts, and which ranks go where.
#include "hw/launch/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string why_not(const std::string& text) {
  return testing::error_of([&] { parse_host_list(text, "hosts.txt"); });
}

TEST(HostList, LinesAreRead) {
  const auto hosts = parse_host_list(
      "# two racks\n\nnode1 slots=4 device=mlx5_0:1 address=10.0.0.1 user=me # here\r\n"
      "\tnode2.example.org\n[fe80::1%eth0]   slots=1",
      "hosts.txt");
  EXPECT_THAT(hosts, ElementsAre(ListedHost{"node1", 4, "mlx5_0:1", "10.0.0.1", "me"},
                                 ListedHost{"node2.example.org", 1, "", "", ""},
                                 ListedHost{"[fe80::1%eth0]", 1, "", "", ""}));
}

TEST(HostList, WhatIsNoList) {
  EXPECT_EQ(why_not(""),
            "hosts.txt: no host; expected lines HOST [slots=N] [device=NAME[:PORT]] "
            "[address=ADDRESS] [user=USER]");
  EXPECT_THAT(why_not("# nobody\n\n"), HasSubstr("no host"));
  EXPECT_EQ(why_not("a slots=0"), "hosts.txt:1: 'slots=0': expected a whole number from 1 to 4096");
  for (const char* slots : {"", "x", "-1", "1.5", "4097", "99999999999999", "1 slots"}) {
    EXPECT_NE(why_not(std::string("a slots=") + slots), "") << slots;
  }
  EXPECT_THAT(why_not("a\nb\na slots=2"), HasSubstr("hosts.txt:3: 'a' stands twice"));
  EXPECT_THAT(why_not("a slots=1 slots=2"), HasSubstr("'slots=2': slots stands twice"));
  EXPECT_THAT(why_not("a cores=4"), HasSubstr("hosts.txt:1: 'cores=4': expected HOST [slots=N]"));
  EXPECT_THAT(why_not("a 4"), HasSubstr("'4': expected HOST [slots=N]"));
  EXPECT_THAT(why_not("a user="), HasSubstr("no name for user"));
}

// A name goes to ssh as an argument, and must never be one of its options.
TEST(HostList, NamesThatSshWouldTakeForSomethingElse) {
  for (const char* name :
       {"-oProxyCommand=x", "-v", "a;b", "$(x)", "a'b", "`x`", "a\x1b[31m", "a|b", "\"a\""}) {
    EXPECT_THAT(why_not(name), HasSubstr("no name for a host")) << name;
    EXPECT_NE(why_not(std::string("a user=") + name), "") << name;
    EXPECT_NE(why_not(std::string("a device=") + name), "") << name;
    EXPECT_NE(why_not(std::string("a address=") + name), "") << name;
  }
  EXPECT_NE(why_not(std::string(300, 'a')), "");
}

TEST(HostList, GarbageIsRefusedInOneLine) {
  std::mt19937_64 random(5);
  const std::string good = "node1 slots=4 device=mlx5_0:1\nnode2 address=10.0.0.2 user=me # x\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (std::uint64_t count = 1 + random() % 4; count > 0; --count) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    why_not(text);
  }
}

TEST(RanksOnHosts, FillAndCycle) {
  const std::vector<ListedHost> hosts = {
      {"a", 3, "", "", ""}, {"b", 1, "", "", ""}, {"c", 2, "", "", ""}};
  EXPECT_THAT(ranks_on_hosts(hosts, 5, HostOrder::kFill, "f"),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3), ElementsAre(4)));
  EXPECT_THAT(ranks_on_hosts(hosts, 6, HostOrder::kCycle, "f"),
              ElementsAre(ElementsAre(0, 3, 5), ElementsAre(1), ElementsAre(2, 4)));
  EXPECT_THAT(ranks_on_hosts(hosts, 1, HostOrder::kCycle, "f"),
              ElementsAre(ElementsAre(0), ElementsAre(), ElementsAre()));
  EXPECT_EQ(testing::error_of([&] { ranks_on_hosts(hosts, 7, HostOrder::kFill, "f"); }),
            "f: 6 slots on 3 hosts for 7 ranks; expected as many slots as ranks (slots=N)");
}

TEST(RanksOnHosts, EveryRankOnceAndNoHostBeyondItsSlots) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 500; ++round) {
    std::vector<ListedHost> hosts(1 + random() % 6);
    std::uint32_t slots = 0;
    for (ListedHost& host : hosts)
      slots += host.slots = static_cast<std::uint32_t>(1 + random() % 5);
    const auto ranks = static_cast<std::uint32_t>(1 + random() % slots);
    for (const HostOrder order : {HostOrder::kFill, HostOrder::kCycle}) {
      const auto on = ranks_on_hosts(hosts, ranks, order, "f");
      std::vector<int> seen(ranks, 0);
      for (std::size_t host = 0; host < hosts.size(); ++host) {
        EXPECT_LE(on[host].size(), hosts[host].slots);
        EXPECT_TRUE(std::is_sorted(on[host].begin(), on[host].end()));
        for (const std::uint32_t rank : on[host]) ++seen.at(rank);
      }
      EXPECT_THAT(seen, ::testing::Each(1));
      EXPECT_EQ(on[0].front(), 0);
    }
  }
}

}  // namespace
}  // namespace slackline::hw
