// What two ports say of whether they reach each other, before anything is sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/verbs/address.h"
#include "hw/verbs/port.h"
#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

VerbsPort named(const std::string& device) {
  VerbsPort port;
  std::copy(device.begin(), device.end(), port.device.begin());
  port.port = 1;
  port.partition = 0xffff;
  port.mtu = 5;
  return port;
}

VerbsPort roce(const std::string& device, std::uint8_t last, std::uint8_t version = 2) {
  VerbsPort port = named(device);
  port.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, last};
  port.gid_index = 3;
  port.ethernet = 1;
  port.roce = version;
  return port;
}

VerbsPort infiniband(const std::string& device, std::uint16_t lid) {
  VerbsPort port = named(device);
  port.lid = lid;
  return port;
}

std::string why(const VerbsPort& one, const VerbsPort& other) {
  const auto there = mismatch(2, one, 5, other);
  EXPECT_EQ(there.has_value(), mismatch(5, other, 2, one).has_value());
  if (there) {
    EXPECT_EQ(there->find('\n'), std::string::npos);
  }
  return there.value_or("");
}

TEST(VerbsPort, LikePortsMatch) {
  EXPECT_EQ(why(roce("a", 1), roce("b", 2)), "");
  EXPECT_EQ(why(roce("a", 1, 1), roce("b", 2, 1)), "");
  EXPECT_EQ(why(infiniband("a", 1), infiniband("b", 2)), "");
}

TEST(VerbsPort, DifferentMtusMatch) {
  VerbsPort small = roce("a", 1);
  small.mtu = 3;
  EXPECT_EQ(why(small, roce("b", 2)), "");
}

TEST(VerbsPort, LinkLayersAndVersionsAndFamiliesAreNamedAtBothEnds) {
  EXPECT_EQ(
      why(roce("mlx5_0", 1), infiniband("mlx5_3", 17)),
      "verbs: rank 2 has Ethernet (mlx5_0 port 1, RoCE v2, GID 3 (10.9.0.1)), and rank 5 "
      "InfiniBand (mlx5_3 port 1, InfiniBand, LID 17): no packet comes from one to the other; "
      "--device chooses among a host's ports");
  EXPECT_THAT(why(roce("a", 1, 1), roce("b", 2)),
              AllOf(StartsWith("verbs: rank 2 has RoCE v1 (a port 1, "),
                    HasSubstr("and rank 5 RoCE v2 (b port 1, "), HasSubstr("--gid-index")));
  VerbsPort v6 = roce("b", 2);
  v6.gid = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  EXPECT_THAT(why(roce("a", 1), v6),
              AllOf(HasSubstr("rank 2 has IPv4"), HasSubstr("rank 5 IPv6 (b port 1"),
                    HasSubstr("(fe80::2)"), HasSubstr("--gid-index")));
  // RoCE v1 has no IP packets to differ.
  VerbsPort first = v6;
  first.roce = 1;
  EXPECT_EQ(why(roce("a", 1, 1), first), "");
}

TEST(VerbsPort, PartitionsMatchIfOneOfTheTwoIsAFullMember) {
  const auto of = [](std::uint16_t one, std::uint16_t other) {
    VerbsPort a = infiniband("a", 1);
    VerbsPort b = infiniband("b", 2);
    a.partition = one;
    b.partition = other;
    return why(a, b);
  };
  EXPECT_EQ(of(0x8005, 0x8005), "");
  EXPECT_EQ(of(0x8005, 0x0005), "");
  EXPECT_THAT(of(0x0005, 0x0005), HasSubstr("two limited members"));
  EXPECT_THAT(of(0x8005, 0x8006),
              AllOf(HasSubstr("rank 2 has partition key 0x8005"),
                    HasSubstr("rank 5 partition key 0x8006"), HasSubstr("--pkey")));
}

TEST(VerbsPort, MtuIsThePortsOrASmallerOne) {
  EXPECT_EQ(mtu_bytes(1), 256u);
  EXPECT_EQ(mtu_bytes(5), 4096u);
  for (std::uint8_t active = 1; active <= 5; ++active) {
    EXPECT_EQ(choose_mtu(0, active, "x"), active);
    for (std::uint8_t asked = 1; asked <= 5; ++asked) {
      if (asked <= active) {
        EXPECT_EQ(choose_mtu(mtu_bytes(asked), active, "x"), asked);
      } else {
        EXPECT_THROW(choose_mtu(mtu_bytes(asked), active, "x"), EnvironmentError);
      }
    }
  }
  EXPECT_THROW(choose_mtu(1000, 5, "x"), InternalError);
}

// By rank: each with the ends of these channels.
std::vector<Address> addresses(const std::vector<VerbsPort>& ports,
                               const std::vector<std::array<std::uint32_t, 2>>& channels) {
  std::vector<Address> packed;
  for (std::uint32_t rank = 0; rank < ports.size(); ++rank) {
    std::vector<VerbsEndAddress> ends;
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
      if (channels[c][0] == rank) ends.push_back({c, 1, 100 + c, 0});
      if (channels[c][1] == rank) ends.push_back({c, 0, 200 + c, 0});
    }
    packed.push_back(pack_address(ports[rank], ends));
  }
  return packed;
}

TEST(VerbsAddress, GivesBackWhatWasPacked) {
  const auto packed = addresses({roce("a", 1), roce("b", 2)}, {{0, 1}, {1, 0}});
  EXPECT_EQ(describe(port_of(packed[1], 1)), "b port 1, RoCE v2, GID 3 (10.9.0.2)");
  EXPECT_EQ(other_end(packed[1], {0, 1, true}).queue_pair, 200u);
  EXPECT_EQ(other_end(packed[1], {1, 1, false}).queue_pair, 101u);
  EXPECT_THROW(other_end(packed[1], {7, 1, true}), InternalError);
  for (std::size_t bytes = 0; bytes < packed[0].size(); ++bytes) {
    EXPECT_THROW(port_of({packed[0].begin(), packed[0].begin() + static_cast<long>(bytes)}, 0),
                 EnvironmentError);
  }
}

TEST(VerbsAddress, MismatchesOfRanksWithAChannelAreThrownAlikeByAll) {
  const std::vector<VerbsPort> ports{roce("a", 1), roce("b", 2), roce("c", 3, 1),
                                     infiniband("d", 4)};
  const auto message = [&](const std::vector<Address>& of) {
    return testing::error_of<EnvironmentError>([&] { require_matches(of); });
  };
  // Those that talk to each other match.
  EXPECT_EQ(message(addresses(ports, {{0, 1}, {1, 0}, {2, 2}})), "");
  const auto all = addresses(ports, {{1, 0}, {3, 2}, {1, 2}});
  EXPECT_THAT(message(all), StartsWith("verbs: rank 2 has Ethernet (c port 1, RoCE v1"));
  auto without = all;
  without[3].clear();
  EXPECT_THAT(message(without), StartsWith("verbs: rank 1 has RoCE v2 (b port 1"));
}

}  // namespace
}  // namespace slackline::hw
