// What packets and lines add to a message, by hand.
#include "machine/framing.h"

#include <gtest/gtest.h>

#include "machine/platform.h"

namespace slackline::machine {
namespace {

TEST(Framing, AddsNothingUnlessItIsGiven) {
  for (const std::uint64_t bytes : {0ull, 1ull, 4'096ull, 1ull << 50}) {
    EXPECT_EQ(Framing{}.wire_bytes(bytes), static_cast<double>(bytes));
    EXPECT_EQ((Framing{4'096, 0, 1, 1}.wire_bytes(bytes)), static_cast<double>(bytes));
  }
}

TEST(Framing, CountsWholePackets) {
  const Framing framing{1'000, 66, 1, 1};
  EXPECT_EQ(framing.wire_bytes(0), 0);  // no message, no packet
  EXPECT_EQ(framing.wire_bytes(1), 67);
  EXPECT_EQ(framing.wire_bytes(1'000), 1'066);
  EXPECT_EQ(framing.wire_bytes(1'001), 1'001 + 2 * 66);
  EXPECT_EQ(framing.wire_bytes(10'000), 10'660);
  EXPECT_EQ((Framing{0, 66, 1, 1}.wire_bytes(10'000)), 10'066);
}

TEST(Framing, TakesTheCodeOfAllThatIsOnTheLine) {
  EXPECT_EQ((Framing{0, 0, 8, 10}.wire_bytes(800)), 1'000);
  EXPECT_EQ((Framing{1'000, 60, 8, 10}.wire_bytes(4'000)), (4'000 + 4 * 60) * 10 / 8);
}

// FDR: 56.25 Gb/s on each port, 64 of 66 bits data, 4 KiB in a packet with 28 bytes of headers and
// checks (local route 8, transport 12, two checks 6, start and end 2): 6,771.9 MB/s of payload.
TEST(Framing, GivesThePayloadRateOfFdr) {
  const Platform fdr =
      parse_platform_spec("star:rate=56.25Gbps,mtu=4KiB,packet_overhead=28B,coding=64/66");
  constexpr std::uint64_t kBytes = 4 << 20;
  EXPECT_NEAR(1e-6 * kBytes / fdr.transfer_s(kBytes), 6'771.890, 0.001);
}

}  // namespace
}  // namespace slackline::machine
