// What PCIe takes of a message's time, by hand.
#include "machine/pcie.h"

#include <gtest/gtest.h>

#include <vector>

#include "machine/paths.h"
#include "machine/platform.h"
#include "tests/unit/analysis/program.h"

namespace slackline::machine {
namespace {

using sched::ChannelId;
using testing::Program;
using testing::us;

// A byte takes a nanosecond.
constexpr Pcie kPcie{Rate{8'000'000'000}, 256, 24};

TEST(Pcie, IsNoLimitWithoutARate) {
  EXPECT_FALSE(Pcie{}.limits());
  EXPECT_EQ(Pcie{}.transfer_s(1 << 20), 0);
  EXPECT_EQ((Pcie{{}, 256, 24}).transfer_s(1 << 20), 0);
  EXPECT_EQ(Platform{}.transfer_s(1 << 20), Framing{}.wire_bytes(1 << 20) / 12.5e9);
}

TEST(Pcie, CountsWholeTransactions) {
  EXPECT_EQ(kPcie.transfer_s(0), 0);  // no message, no transaction
  EXPECT_DOUBLE_EQ(kPcie.transfer_s(1), 25e-9);
  EXPECT_DOUBLE_EQ(kPcie.transfer_s(256), 280e-9);
  EXPECT_DOUBLE_EQ(kPcie.transfer_s(257), (257 + 2 * 24) * 1e-9);
  EXPECT_DOUBLE_EQ(kPcie.transfer_s(2'560), 2'800e-9);
  EXPECT_DOUBLE_EQ((Pcie{Rate{8'000'000'000}, 0, 24}).transfer_s(2'560), 2'584e-9);
}

// Eight lanes of the third generation: 8 GT/s each, of whose 130 bits 128 are of transactions. With
// 256 bytes in each, and 24 beside them, messages get 57.67 Gb/s: what FDR has for them is less,
// and what EDR has is more. With 128 bytes in each they get 53.11 Gb/s, less than FDR's 54.17.
TEST(Pcie, IsTheSlowerOfTwo) {
  constexpr std::uint64_t kBytes = 4 << 20;
  const auto gbps = [&](const char* spec) {
    return 8e-9 * kBytes / parse_platform_spec(spec).transfer_s(kBytes);
  };
  EXPECT_NEAR(gbps("star:rate=56.25Gbps,mtu=4KiB,packet_overhead=28B,coding=64/66,"
                   "pcie_rate=63077Mbps,pcie_payload=256B,pcie_header=24B"),
              54.175, 0.001);
  EXPECT_NEAR(gbps("star:rate=100Gbps,pcie_rate=63077Mbps,pcie_payload=256B,pcie_header=24B"),
              57.670, 0.001);
  EXPECT_NEAR(gbps("star:rate=56.25Gbps,mtu=4KiB,packet_overhead=28B,coding=64/66,"
                   "pcie_rate=63077Mbps,pcie_payload=128B,pcie_header=24B"),
              53.117, 0.001);
  // A pair's own rate is the wire's.
  const Platform platform = parse_platform_spec("star:rate=8Gbps,pcie_rate=4Gbps");
  EXPECT_DOUBLE_EQ(platform.transfer_s(1'000), 2e-6);
  EXPECT_DOUBLE_EQ(platform.transfer_s(1'000, Rate{2'000'000'000}), 4e-6);
}

// Two racks of two hosts: NICs of 1 GB/s, uplinks of 0.5. PCIe has 0.75 GB/s; with 250 bytes in a
// transaction of 300 that is 0.625 for messages of whole transactions.
constexpr const char* kRacks =
    "two-level:racks=2,hosts=2,uplink=4Gbps,rate=8Gbps,latency=1us,pcie_rate=6Gbps,"
    "pcie_payload=250B,pcie_header=50B";

sched::Schedule two_channels() {
  Program program(4);
  program.channel(0, 1);
  program.channel(0, 3);
  return program.build();
}

TEST(PciePaths, TakeTheLongerOfPcieAndTheSlowestLink) {
  const Paths paths(two_channels(), Wiring(parse_platform_spec(kRacks), 4), {});
  const PathId near = paths.of(ChannelId(0), false);
  const PathId far = paths.of(ChannelId(1), false);
  EXPECT_TRUE(paths[near].passes_pcie);
  EXPECT_DOUBLE_EQ(paths.pcie_s(near, 1'000), 1.6e-6);
  EXPECT_DOUBLE_EQ(paths.alone_s(near, 1'000), 1.6e-6);
  EXPECT_DOUBLE_EQ(paths.sent_s(5e-6, near, 1'000), 6.6e-6);
  EXPECT_DOUBLE_EQ(paths.most_bytes_per_s(near, 1'000), 0.625e9);
  EXPECT_DOUBLE_EQ(paths.sent_s(5e-6, far, 1'000), 7e-6);
  // Most of a small message's transaction is its header: 51 bytes.
  EXPECT_DOUBLE_EQ(paths.alone_s(far, 1), 51 / 0.75e9);
  EXPECT_EQ(paths.alone_s(far, 0), 0);
  // A NIC acknowledges without its host.
  EXPECT_DOUBLE_EQ(paths.ack_sent_s(5e-6, near, 1'000), 6e-6);
}

// The uplink has 0.5 GB/s until 10 us, and then more than PCIe: 25,000 bytes take 10 us for 5,000
// and 32 us for the rest.
TEST(PciePaths, HoldWhatALinkGetsFaster) {
  DelayPlan plan;
  plan.link_rates = {{"rack-0.up", {16'000'000'000}, us(10)},
                     {"rack-1.down", {16'000'000'000}, us(10)}};
  const Paths paths(two_channels(), Wiring(parse_platform_spec(kRacks), 4), plan);
  const PathId far = paths.of(ChannelId(1), false);
  EXPECT_NEAR(paths.sent_s(0, far, 25'000), 42e-6, 1e-15);
  EXPECT_NEAR(paths.ack_sent_s(0, far, 25'000), 30e-6, 1e-15);
}

TEST(PciePaths, AreThoseOfHosts) {
  const auto passes = [](const char* spec, std::uint32_t src, std::uint32_t dst) {
    Program program(4);
    program.channel(src, dst);
    const Paths paths(program.build(), Wiring(parse_platform_spec(spec), 4), {});
    return paths[paths.of(ChannelId(0), false)].passes_pcie;
  };
  EXPECT_TRUE(passes("star:pcie_rate=6Gbps", 0, 0));
  EXPECT_FALSE(passes("star:pcie_rate=6Gbps,own_messages=memory", 0, 0));
  EXPECT_FALSE(passes("star:pcie_rate=6Gbps,ranks_per_node=2", 0, 1));
  EXPECT_TRUE(passes("star:pcie_rate=6Gbps,ranks_per_node=2", 1, 2));
  const char* switches =
      "two-level:racks=2,hosts=2,oversubscription=1,pcie_rate=6Gbps,switches=rack-0+core";
  EXPECT_TRUE(passes(switches, 0, 2));
  EXPECT_TRUE(passes(switches, 2, 0));
  EXPECT_FALSE(passes(switches, 2, 3));
}

TEST(PciePaths, StayWithOtherLinks) {
  const Wiring wiring(parse_platform_spec(kRacks), 4);
  const std::vector<Link> links(wiring.links().begin(), wiring.links().end());
  EXPECT_EQ(wiring.with(links, {}).pcie(), wiring.pcie());
  EXPECT_TRUE(wiring.pcie().limits());
}

}  // namespace
}  // namespace slackline::machine
