// What builds a tree of switches out of network namespaces: shell scripts for `ip`, `tc` and `nft`,
// one for each namespace. Each cable is a pair of virtual ports, and each end of it is shaped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hw/testbed/shaper.h"
#include "hw/testbed/switch_tree.h"

namespace slackline::hw {

/// Whether packets are delayed by the tree's latencies, for which the kernel must have netem, or
/// come as soon as this machine brings them.
enum class TestbedLatency : std::uint8_t { kTree, kBare };

/// What a host is: a namespace; or a virtual machine, whose port a bridge in the host's namespace
/// joins to the host's cable.
enum class TestbedHosts : std::uint8_t { kNamespaces, kGuests };

struct TestbedKind {
  TestbedLatency latency = TestbedLatency::kTree;
  TestbedHosts hosts = TestbedHosts::kNamespaces;
};

/// For the namespace of all switches: makes each switch, and each cable. `space_of` is the path of
/// a host's namespace. Each text is for a shell of its own.
std::vector<std::string> switch_scripts(
    const SwitchTree& tree, TestbedKind kind,
    const std::function<std::string(std::uint32_t host)>& space_of);

/// For the host's own namespace, after those of the switches.
std::string host_script(const SwitchTree& tree, TestbedKind kind, std::uint32_t host);

/// What the host sends, in a queue for each latency, the shortest first.
std::vector<PortQueue> queues_by_latency(const SwitchTree& tree, std::uint32_t host);

}  // namespace slackline::hw
