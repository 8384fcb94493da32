// Groups that are drawn for a port, and who may join them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "hw/verbs/multicast_group.h"
#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

Gid ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  Gid gid{};
  gid[10] = gid[11] = 0xff;
  gid[12] = a;
  gid[13] = b;
  gid[14] = c;
  gid[15] = d;
  return gid;
}
Gid ipv6(std::uint8_t first, std::uint8_t second) {
  Gid gid{};
  gid[0] = first;
  gid[1] = second;
  gid[15] = 1;
  return gid;
}

TEST(VerbsMulticastGroup, IsOfThePortsKindAndReachesAsFarAsItsGid) {
  std::set<Gid> drawn;
  for (int i = 0; i < 100; ++i) {
    const Gid group = drawn_group(ipv4(10, 0, 0, 1));
    EXPECT_TRUE(is_ipv4(group));
    EXPECT_EQ(group[12], 239);
    EXPECT_EQ(group[13] & 0xfc, 192);
    drawn.insert(group);
    const Gid link = drawn_group(ipv6(0xfe, 0x80));
    EXPECT_EQ(link[0], 0xff);
    EXPECT_EQ(link[1], 0x12);
    const Gid site = drawn_group(ipv6(0x20, 0x01));
    EXPECT_EQ(site[1], 0x15);
  }
  EXPECT_GT(drawn.size(), 90u);
}

TEST(VerbsMulticastGroup, IsJoinedByPortsOfItsKind) {
  const Gid four = drawn_group(ipv4(10, 0, 0, 1));
  const Gid six = drawn_group(ipv6(0xfe, 0x80));
  EXPECT_TRUE(is_group_for(four, ipv4(10, 9, 8, 7)));
  EXPECT_TRUE(is_group_for(six, ipv6(0x20, 0x01)));
  EXPECT_FALSE(is_group_for(four, ipv6(0xfe, 0x80)));
  EXPECT_FALSE(is_group_for(six, ipv4(10, 9, 8, 7)));
  EXPECT_FALSE(is_group_for(ipv4(10, 0, 0, 2), ipv4(10, 0, 0, 1)));
  EXPECT_FALSE(is_group_for(ipv6(0x20, 0x01), ipv6(0x20, 0x01)));
}

TEST(VerbsMulticastGroup, NamesWhatItCannotJoin) {
  EXPECT_THAT(testing::error_of<EnvironmentError>(
                  [&] { join_group(ipv4(239, 192, 0, 1), "none0", "rxe9 port 1"); }),
              ::testing::HasSubstr("multicast: rxe9 port 1: finding the interface to join "
                                   "239.192.0.1 on 'none0' failed"));
  // Loopback takes members.
  EXPECT_GE(join_group(ipv4(239, 192, 0, 1), "lo", "rxe9 port 1").get(), 0);
}

}  // namespace
}  // namespace slackline::hw
