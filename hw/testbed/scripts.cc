#include "hw/testbed/scripts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace slackline::hw {
namespace {

constexpr int kQueuedPackets = 20'000;
constexpr int kSmallBytes = 300;
constexpr std::uint64_t kSegmentsPerSecond = 1'500;
// HTB's classes below 1:1, by their hexadecimal minor numbers: one for small packets, and one for
// each host's others, or for all of these.
constexpr int kSmallClass = 0x10;
constexpr int kFirstClass = 0x20;

struct Port {
  std::string device;
  sched::Rate rate;  // of what it carries
  sched::Time latency;
  std::uint32_t hosts =
      0;  // that share it, each as much as the others; 0: first come, first served
};

std::uint64_t bits_on_the_wire(sched::Rate carried) {
  return static_cast<std::uint64_t>(static_cast<double>(carried.bits_per_second) * 1514 / 1448);
}

// The most that TCP hands a port at once.
std::uint64_t segment_bytes(sched::Rate rate) {
  return std::clamp<std::uint64_t>(rate.bits_per_second / 8 / kSegmentsPerSecond, 4'096, 65'536);
}

// A class below 1:1 and its queue. `own` is what it always gets, where it asks for that.
std::string leaf(const Port& port, int number, int priority, std::uint64_t own,
                 TestbedLatency latency) {
  const bool delays = latency == TestbedLatency::kTree && port.latency > sched::Time(0);
  const std::uint64_t segment = segment_bytes(port.rate);
  return fmt::format(
      "class add dev {0} parent 1:1 classid 1:{1:x} htb rate {2}bit ceil {3}bit burst {4} cburst "
      "{4} "
      "prio {5} quantum {6}\n"
      "qdisc add dev {0} parent 1:{1:x} handle {1:x}: {7} limit {8}\n",
      port.device, number, std::max<std::uint64_t>(own, 8), bits_on_the_wire(port.rate),
      segment / 4, priority, segment,
      delays ? fmt::format("netem delay {:.3f}us", sched::seconds(port.latency) * 1e6) : "pfifo",
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

// Small packets may always have a part of the rate, so that they never wait for others.
std::string shaper(const Port& port, TestbedLatency latency) {
  const std::uint64_t rate = bits_on_the_wire(port.rate);
  const std::uint32_t classes = std::max(port.hosts, 1u);
  std::string text = fmt::format(
      "tool tc -batch - <<END\n"
      "qdisc add dev {0} root handle 1: htb default {1:x}\n"
      "class add dev {0} parent 1: classid 1:1 htb rate {2}bit ceil {2}bit burst {3} cburst {3} "
      "quantum {4}\n",
      port.device, kFirstClass, rate, segment_bytes(port.rate) / 4, segment_bytes(port.rate));
  text += leaf(port, kSmallClass, 0, rate / 5, latency);
  for (std::uint32_t c = 0; c < classes; ++c) {
    text += leaf(port, kFirstClass + static_cast<int>(c), 1, (rate - rate / 5) / classes, latency);
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

std::string with_ip(const std::string& lines) {
  return fmt::format("tool ip -batch - <<END\n{}END\n", lines);
}

// Where a tool fails, the last line that is said is the one with its error.
constexpr std::string_view kBegin =
    "set -e\n"
    "tool() {\n"
    "words=$(\"$@\" 2>&1) && return\n"
    "echo \"$1: $(echo \"$words\" | grep -m 1 -i error || echo \"$words\" | head -n 1)\" >&2\n"
    "exit 1\n"
    "}\n";

// No packets that nobody sent.
constexpr std::string_view kQuiet =
    "if [ -e /proc/sys/net/ipv6 ]; then\n"
    "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6\n"
    "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6\n"
    "fi\n";

// TCP that neither probes for bandwidth nor holds back after a pause.
constexpr std::string_view kPlainTcp =
    "echo reno > /proc/sys/net/ipv4/tcp_congestion_control\n"
    "echo 0 > /proc/sys/net/ipv4/tcp_slow_start_after_idle\n"
    "echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save\n";

}  // namespace

std::string testbed_address(std::uint32_t host) { return fmt::format("10.77.0.{}", host + 1); }

std::vector<std::string> switch_scripts(
    const SwitchTree& tree, TestbedLatency latency,
    const std::function<std::string(std::uint32_t host)>& space_of) {
  std::string bridges;
  for (std::uint32_t s = 0; s < tree.switches.size(); ++s) {
    bridges += fmt::format("link add name s{0} type bridge\nlink set s{0} up\n", s);
  }
  std::vector<std::string> scripts = {std::string(kBegin) + std::string(kQuiet) + with_ip(bridges)};
  const auto hosts = static_cast<std::uint32_t>(tree.hosts.size());
  for (std::uint32_t s = 0; s < tree.switches.size(); ++s) {
    const SwitchTree::Switch& lower = tree.switches[s];
    if (!lower.above) continue;
    scripts.push_back(
        std::string(kBegin) +
        with_ip(fmt::format("link add name u{0} type veth peer name d{0}\n"
                            "link set u{0} master s{0} up\nlink set d{0} master s{1} up\n",
                            s, *lower.above)) +
        shaper({fmt::format("u{}", s), lower.cable.up, lower.cable.latency, hosts}, latency) +
        shaper({fmt::format("d{}", s), lower.cable.down, {}, hosts}, latency));
  }
  for (std::uint32_t h = 0; h < tree.hosts.size(); ++h) {
    const SwitchTree::Host& host = tree.hosts[h];
    scripts.push_back(std::string(kBegin) +
                      with_ip(fmt::format("link add name p{0} type veth peer name eth0 netns {1}\n"
                                          "link set p{0} master s{2} up\n",
                                          h, space_of(h), host.on)) +
                      shaper({fmt::format("p{}", h), host.cable.down, {}}, latency));
  }
  return scripts;
}

std::string host_script(const SwitchTree& tree, TestbedLatency latency, std::uint32_t host) {
  const SwitchTree::Cable& cable = tree.hosts[host].cable;
  return std::string(kBegin) + std::string(kQuiet) + std::string(kPlainTcp) +
         with_ip(fmt::format("link set lo up\n"
                             "address add {}/24 dev eth0\n"
                             "link set eth0 gso_max_size {}\n"
                             "link set eth0 up\n"
                             "route replace 10.77.0.0/24 dev eth0 initcwnd 2000 initrwnd 2000 "
                             "quickack 1\n",
                             testbed_address(host), segment_bytes(cable.up))) +
         shaper({"eth0", cable.up, cable.latency}, latency);
}

std::string entry_script(const SwitchTree& tree,
                         const std::function<std::string(std::uint32_t host)>& space_of) {
  std::string spaces;
  for (std::uint32_t h = 0; h < tree.hosts.size(); ++h) {
    spaces += fmt::format("{}) space={} ;;\n", tree.hosts[h].name, space_of(h));
  }
  // A network's devices stand in /sys as it was mounted there.
  return fmt::format(
      "#!/bin/sh\n"
      "while [ \"$1\" != -- ]; do shift; done\n"
      "case \"$2\" in\n{}"
      "*) echo \"the testbed has no host $2\" >&2; exit 255 ;;\n"
      "esac\n"
      "exec nsenter --net=\"$space\" unshare --mount --uts sh -c '\n"
      "hostname \"$0\" && mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /dev/shm &&\n"
      "exec sh -c \"$1\"' \"$2\" \"$3\"\n",
      spaces);
}

std::string testbed_host_list(const SwitchTree& tree) {
  std::string list;
  for (std::uint32_t h = 0; h < tree.hosts.size(); ++h) {
    list += fmt::format("{} address={}\n", tree.hosts[h].name, testbed_address(h));
  }
  return list;
}

}  // namespace slackline::hw
