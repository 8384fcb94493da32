#include "hw/testbed/shaper.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "hw/testbed/entry.h"

namespace slackline::hw {
namespace {

constexpr int kSmallBytes = 300;
constexpr std::uint64_t kSegmentsPerSecond = 1'500;
// HTB's classes below 1:1, by their hexadecimal minor numbers: one for small packets, and one for
// each host's others, or for all of these.
constexpr int kSmallClass = 0x10;
constexpr int kFirstClass = 0x20;

std::uint64_t bits_on_the_wire(const ShapedPort& port) {
  return static_cast<std::uint64_t>(static_cast<double>(port.rate.bits_per_second) *
                                    port.packets.whole / port.packets.carried);
}

// A class below 1:1 and its queue. `own` is what it always gets, where it asks for that.
std::string leaf(const ShapedPort& port, int number, int priority, std::uint64_t own) {
  const std::uint64_t segment = segment_bytes(port.rate);
  return fmt::format(
      "class add dev {0} parent 1:1 classid 1:{1:x} htb rate {2}bit ceil {3}bit burst {4} cburst "
      "{4} "
      "prio {5} quantum {6}\n"
      "qdisc add dev {0} parent 1:{1:x} handle {1:x}: {7} limit {8}\n",
      port.device, number, std::max<std::uint64_t>(own, 8), bits_on_the_wire(port), segment / 4,
      priority, segment,
      port.latency > sched::Time(0)
          ? fmt::format("netem delay {:.3f}us", sched::seconds(port.latency) * 1e6)
          : "pfifo",
      kQueuedPackets);
}

// How a packet's priority names a class.
int priority_of(int number) { return 1 << 16 | number; }

// By the hosts that packets are from.
std::string class_map(std::uint32_t hosts) {
  std::string pairs;
  for (std::uint32_t h = 0; h < hosts; ++h) {
    pairs += fmt::format("{}{} : {}", h == 0 ? "" : ", ", testbed_address(h),
                         priority_of(kFirstClass + static_cast<int>(h)));
  }
  return fmt::format("meta priority set ip saddr map {{ {} }}\n", pairs);
}

}  // namespace

std::uint64_t segment_bytes(sched::Rate rate) {
  return std::clamp<std::uint64_t>(rate.bits_per_second / 8 / kSegmentsPerSecond, 4'096, 65'536);
}

// Small packets may always have a part of the rate, so that they never wait for others.
std::string shaper(const ShapedPort& port) {
  const std::uint64_t rate = bits_on_the_wire(port);
  const std::uint32_t classes = std::max(port.hosts, 1u);
  std::string text = fmt::format(
      "tool tc -batch - <<END\n"
      "qdisc add dev {0} root handle 1: htb default {1:x}\n"
      "class add dev {0} parent 1: classid 1:1 htb rate {2}bit ceil {2}bit burst {3} cburst {3} "
      "quantum {4}\n",
      port.device, kFirstClass, rate, segment_bytes(port.rate) / 4, segment_bytes(port.rate));
  text += leaf(port, kSmallClass, 0, rate / 5);
  for (std::uint32_t c = 0; c < classes; ++c) {
    text += leaf(port, kFirstClass + static_cast<int>(c), 1, (rate - rate / 5) / classes);
  }
  return text + fmt::format(
                    "END\n"
                    "tool nft -f - <<END\n"
                    "table netdev slackline {{\n"
                    "chain {0} {{\n"
                    "type filter hook egress device \"{0}\" priority 0;\n"
                    "{1}"
                    "ip length < {2} meta priority set {3}\n"
                    "}}\n"
                    "}}\n"
                    "END\n",
                    port.device, port.hosts == 0 ? "" : class_map(port.hosts), kSmallBytes,
                    priority_of(kSmallClass));
}

}  // namespace slackline::hw
