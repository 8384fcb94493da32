#include "hw/testbed/scripts.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "hw/testbed/entry.h"
#include "hw/testbed/guest.h"
#include "hw/testbed/shaper.h"
#include "hw/testbed/shell_text.h"

namespace slackline::hw {
namespace {

PacketBytes packets_of(TestbedKind kind) {
  return kind.hosts == TestbedHosts::kGuests ? kRocePackets : kTcpPackets;
}

// A port of a host's cable, at its switch.
ShapedPort port_of(std::string device, sched::Rate rate, TestbedKind kind) {
  return {std::move(device), rate, packets_of(kind)};
}

// A port of a cable between switches.
ShapedPort shared_port(std::string device, sched::Rate rate, TestbedKind kind, std::size_t hosts) {
  ShapedPort port = port_of(std::move(device), rate, kind);
  for (std::uint32_t h = 0; h < hosts; ++h) port.queues.push_back({{h}});
  return port;
}

// A switch, and the two ends of a cable.
std::string bridge(std::string_view name, TestbedKind kind) {
  return fmt::format("link add name {0} mtu {1} type bridge\nlink set {0} up\n", name,
                     packets_of(kind).mtu);
}

std::string cable(std::string_view near, std::string_view far, TestbedKind kind) {
  return fmt::format("link add name {0} mtu {2} type veth peer name {1} mtu {2}", near, far,
                     packets_of(kind).mtu);
}

}  // namespace

std::vector<std::string> switch_scripts(
    const SwitchTree& tree, TestbedKind kind,
    const std::function<std::string(std::uint32_t host)>& space_of) {
  std::string bridges;
  for (std::uint32_t s = 0; s < tree.switches.size(); ++s) {
    bridges += bridge(fmt::format("s{}", s), kind);
  }
  std::vector<std::string> scripts = {std::string(kToolsMustWork) + std::string(kQuietNetwork) +
                                      with_ip(bridges)};
  for (std::uint32_t s = 0; s < tree.switches.size(); ++s) {
    const SwitchTree::Switch& lower = tree.switches[s];
    if (!lower.above) continue;
    const std::string up = fmt::format("u{}", s), down = fmt::format("d{}", s);
    scripts.push_back(
        std::string(kToolsMustWork) +
        with_ip(fmt::format("{}\nlink set {} master s{} up\nlink set {} master s{} up\n",
                            cable(up, down, kind), up, s, down, *lower.above)) +
        shaper(shared_port(up, lower.cable.up, kind, tree.hosts.size())) +
        shaper(shared_port(down, lower.cable.down, kind, tree.hosts.size())));
  }
  for (std::uint32_t h = 0; h < tree.hosts.size(); ++h) {
    const SwitchTree::Host& host = tree.hosts[h];
    const std::string port = fmt::format("p{}", h);
    scripts.push_back(std::string(kToolsMustWork) +
                      with_ip(fmt::format("{} netns {}\nlink set {} master s{} up\n",
                                          cable(port, "eth0", kind), space_of(h), port, host.on)) +
                      shaper(port_of(port, host.cable.down, kind)));
  }
  return scripts;
}

std::string host_script(const SwitchTree& tree, TestbedKind kind, std::uint32_t host) {
  const SwitchTree::Cable& cable = tree.hosts[host].cable;
  const std::string segment = std::to_string(segment_bytes(cable.up));
  std::string text = std::string(kToolsMustWork) + std::string(kQuietNetwork);
  if (kind.hosts == TestbedHosts::kGuests) {
    text += with_ip(fmt::format("{}{}link set eth0 gso_max_size {} master br0 up\n",
                                bridge("br0", kind), guest_tap(kRocePackets.mtu), segment));
  } else {
    text += std::string(kPlainTcp) + with_ip(own_port(testbed_address(host), segment));
  }
  ShapedPort port = port_of("eth0", cable.up, kind);
  // A virtual machine delays what it sends itself.
  if (kind.latency == TestbedLatency::kTree && kind.hosts == TestbedHosts::kNamespaces) {
    port.queues = queues_by_latency(tree, host);
    port.by = ShapedPort::By::kDestination;
  }
  return text + shaper(port);
}

std::vector<PortQueue> queues_by_latency(const SwitchTree& tree, std::uint32_t host) {
  std::map<sched::Time, std::vector<std::uint32_t>> hosts;
  for (std::uint32_t to = 0; to < tree.hosts.size(); ++to) {
    if (to != host) hosts[tree.hosts[host].latency_to[to]].push_back(to);
  }
  std::vector<PortQueue> queues;
  for (auto& [latency, those] : hosts) queues.push_back({std::move(those), latency});
  return queues;
}

}  // namespace slackline::hw
