// A port of a testbed, shaped by HTB to its cable's rate.
//
// A shaper counts whole packets, a platform's rate only what they carry. Packets below 300 bytes
// (acknowledgements, credits) go before all others; they would wait as long as a full queue takes.
// Those of a queue pair of RoCE that has sent larger ones in the last minute do not, nor do those
// of a connection of TCP that carry bytes while larger ones of it may be in a queue. Queues are so
// long that nothing is lost. Cables between switches are shared by the hosts whose packets they
// carry, each having as much as the others, as the engines have it. In one queue, what came first
// would leave first.
//
// What a shaper lets through at once after a pause comes too early by the time it takes: with 64
// KiB, a pipeline of blocks of 64 KiB was a fifth faster than its links. With less, a shaper that
// the machine wakes too late loses rate, and more of smaller segments than two cores can carry. So
// TCP hands a port what leaves in 2/3 ms (4 to 64 KiB), and the burst is a quarter of that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace slackline::hw {

/// How large packets are, and how many of a packet's bytes are what it carries. A shaper counts no
/// more than `whole`.
struct PacketBytes {
  std::uint32_t mtu = 0;
  std::uint32_t whole = 0;
  std::uint32_t carried = 0;
};
/// TCP's; and RoCE v2's of a path MTU of 4096, whose headers are Ethernet's 14, IP's 20, UDP's 8,
/// and 12 and 4 of its own.
inline constexpr PacketBytes kTcpPackets{1500, 1514, 1448};
inline constexpr PacketBytes kRocePackets{4200, 4154, 4096};

/// How many packets wait at a port at most. None may be lost.
inline constexpr int kQueuedPackets = 20'000;

/// Hosts whose packets are in one queue, as they are from there or go there, and how much later
/// they leave than they come.
struct PortQueue {
  std::vector<std::uint32_t> hosts;
  sched::Time latency{0};
};

struct ShapedPort {
  std::string device;
  sched::Rate rate;  // of what it carries
  PacketBytes packets;
  /// Each gets as much as the others. None: one for all.
  std::vector<PortQueue> queues = {};
  enum class By : std::uint8_t { kSource, kDestination } by = By::kSource;
};

/// `tc`'s words for a queue in which packets stay for so long.
std::string queue_words(sched::Time latency);

/// The most that TCP hands a port of this rate at once.
std::uint64_t segment_bytes(sched::Rate rate);

/// For a shell whose network has the port (hw/testbed/shell_text.h).
std::string shaper(const ShapedPort& port);

}  // namespace slackline::hw
