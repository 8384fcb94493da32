#include "hw/testbed/shaper.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "hw/testbed/entry.h"

namespace slackline::hw {
namespace {

constexpr int kSmallBytes = 300;
constexpr int kRocePort = 4791;
constexpr std::uint64_t kSegmentsPerSecond = 1'500;
// More than a connection of TCP has in a queue.
constexpr std::uint64_t kMostOfAConnection = std::uint64_t{8} << 20;
// HTB's classes below 1:1, by their hexadecimal minor numbers: one for each queue, and one for the
// small packets of each latency.
constexpr int kFirstClass = 0x20;
constexpr int kSmallClass = 0x1000;

std::uint64_t bits_on_the_wire(const ShapedPort& port) {
  return static_cast<std::uint64_t>(static_cast<double>(port.rate.bits_per_second) *
                                    port.packets.whole / port.packets.carried);
}

// A class below 1:1 and its queue. `own` is what it always gets, where it asks for that.
std::string leaf(const ShapedPort& port, int number, int priority, std::uint64_t own,
                 sched::Time latency) {
  const std::uint64_t segment = segment_bytes(port.rate);
  return fmt::format(
      "class add dev {0} parent 1:1 classid 1:{1:x} htb rate {2}bit ceil {3}bit burst {4} cburst "
      "{4} "
      "prio {5} quantum {6}\n"
      "qdisc add dev {0} parent 1:{1:x} handle {1:x}: {7}\n",
      port.device, number, std::max<std::uint64_t>(own, 8), bits_on_the_wire(port), segment / 4,
      priority, segment, queue_words(latency));
}

// How long a connection's larger packets may still be in a queue, in seconds.
std::uint64_t seconds_queued(sched::Rate rate) {
  return std::clamp<std::uint64_t>(
      kMostOfAConnection * 8 / std::max<std::uint64_t>(rate.bits_per_second, 1), 1, 60);
}

// How a packet's priority names a class.
int priority_of(int number) { return 1 << 16 | number; }

// What gives packets the class of their host: the first, and one more for each further queue.
std::string class_of_host(const ShapedPort& port, int first) {
  if (port.queues.size() < 2) return fmt::format("meta priority set {}\n", priority_of(first));
  std::string pairs;
  for (std::size_t q = 0; q < port.queues.size(); ++q) {
    for (const std::uint32_t host : port.queues[q].hosts) {
      pairs += fmt::format("{}{} : {}", pairs.empty() ? "" : ", ", testbed_address(host),
                           priority_of(first + static_cast<int>(q)));
    }
  }
  return fmt::format("meta priority set ip {} map {{ {} }}\n",
                     port.by == ShapedPort::By::kSource ? "saddr" : "daddr", pairs);
}

}  // namespace

std::string queue_words(sched::Time latency) {
  if (latency == sched::Time(0)) return fmt::format("pfifo limit {}", kQueuedPackets);
  return fmt::format("netem delay {:.3f}us limit {}", sched::seconds(latency) * 1e6,
                     kQueuedPackets);
}

std::uint64_t segment_bytes(sched::Rate rate) {
  return std::clamp<std::uint64_t>(rate.bits_per_second / 8 / kSegmentsPerSecond, 4'096, 65'536);
}

// Small packets may always have a part of the rate, so that they never wait for others. But none
// may overtake one of its own queue pair: RoCE takes that for a loss, and sends again what is under
// way or waits for its timer. So those of a pair that has sent larger ones stay with them; a pair
// is known by its port of UDP. TCP takes the end of a message that overtakes the rest for a loss,
// too. So what a connection says stays behind its larger packets; acknowledgements alone, which
// have neither bytes (with which there is a PSH) nor a FIN, may pass them.
std::string shaper(const ShapedPort& port) {
  const std::uint64_t rate = bits_on_the_wire(port);
  const std::vector<PortQueue> queues =
      port.queues.empty() ? std::vector<PortQueue>(1) : port.queues;
  const bool later =
      std::ranges::any_of(queues, [](const PortQueue& q) { return q.latency > sched::Time(0); });
  std::string text = fmt::format(
      "tool tc -batch - <<END\n"
      "qdisc add dev {0} root handle 1: htb default {1:x}\n"
      "class add dev {0} parent 1: classid 1:1 htb rate {2}bit ceil {2}bit burst {3} cburst {3} "
      "quantum {4}\n",
      port.device, kFirstClass, rate, segment_bytes(port.rate) / 4, segment_bytes(port.rate));
  const std::size_t small = later ? queues.size() : 1;
  for (std::size_t q = 0; q < small; ++q) {
    text += leaf(port, kSmallClass + static_cast<int>(q), 0, rate / 5 / small, queues[q].latency);
  }
  for (std::size_t q = 0; q < queues.size(); ++q) {
    text += leaf(port, kFirstClass + static_cast<int>(q), 1, (rate - rate / 5) / queues.size(),
                 queues[q].latency);
  }
  return text + fmt::format(
                    "END\n"
                    "tool nft -f - <<END\n"
                    "table netdev slackline {{\n"
                    "set long_{0} {{\n"
                    "type ipv4_addr . ipv4_addr . inet_service;\n"
                    "flags dynamic,timeout; timeout 60s; size 65535;\n"
                    "}}\n"
                    "set stream_{0} {{\n"
                    "type ipv4_addr . ipv4_addr . inet_service . inet_service;\n"
                    "flags dynamic,timeout; timeout {6}s; size 65535;\n"
                    "}}\n"
                    "chain {0} {{\n"
                    "type filter hook egress device \"{0}\" priority 0;\n"
                    "{1}"
                    "ip length >= {2} udp dport {4} update @long_{0} {{ {5} }}\n"
                    "ip length < {2} udp dport {4} {5} @long_{0} accept\n"
                    "ip length >= {2} ip protocol tcp update @stream_{0} {{ {7} }}\n"
                    "ip length < {2} tcp flags & (fin | psh) != 0 {7} @stream_{0} accept\n"
                    "ip length < {2} {3}"
                    "}}\n"
                    "}}\n"
                    "END\n",
                    port.device, class_of_host(port, kFirstClass), kSmallBytes,
                    later ? class_of_host(port, kSmallClass)
                          : fmt::format("meta priority set {}\n", priority_of(kSmallClass)),
                    kRocePort, "ip saddr . ip daddr . udp sport", seconds_queued(port.rate),
                    "ip saddr . ip daddr . tcp sport . tcp dport");
}

}  // namespace slackline::hw
