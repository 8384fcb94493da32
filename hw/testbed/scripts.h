// What builds a tree of switches out of network namespaces: shell scripts for `ip`, `tc` and `nft`,
// one for each namespace.
//
// Each cable is a pair of virtual ports, and each end of it is shaped by HTB. A shaper counts whole
// packets, a platform's rate only what they carry: so a shaper has 1514/1448 of the rate, as TCP
// puts 1448 bytes into each packet of 1514. Packets below 300 bytes (acknowledgements, credits) go
// before all others; they would wait as long as a full queue takes. Queues are so long that nothing
// is lost. Cables between switches are shared by the hosts whose packets they carry, each having as
// much as the others, as the engines have it. In one queue, what came first would leave first.
//
// What a shaper lets through at once after a pause comes too early by the time it takes: with 64
// KiB, a pipeline of blocks of 64 KiB was a fifth faster than its links. With less, a shaper that
// the machine wakes too late loses rate, and more of smaller segments than two cores can carry. So
// TCP hands a port what leaves in 2/3 ms (4 to 64 KiB), and the burst is a quarter of that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hw/testbed/switch_tree.h"

namespace slackline::hw {

/// "10.77.0.1" for host 0, and so on.
std::string testbed_address(std::uint32_t host);

/// How many hosts a testbed may have.
inline constexpr std::uint32_t kMostTestbedHosts = 250;

/// Whether packets are delayed by the tree's latencies, for which the kernel must have netem, or
/// come as soon as this machine brings them.
enum class TestbedLatency : std::uint8_t { kTree, kBare };

/// For the namespace of all switches: makes each switch, and each cable. `space_of` is the path of
/// a host's namespace. Each text is for a shell of its own.
std::vector<std::string> switch_scripts(
    const SwitchTree& tree, TestbedLatency latency,
    const std::function<std::string(std::uint32_t host)>& space_of);

/// For the host's own namespace, after those of the switches.
std::string host_script(const SwitchTree& tree, TestbedLatency latency, std::uint32_t host);

/// A program that takes ssh's place: it carries a command to the testbed's host of that name, where
/// the command sees the host's network and name, and a /dev/shm of its own.
std::string entry_script(const SwitchTree& tree,
                         const std::function<std::string(std::uint32_t host)>& space_of);

/// The hosts, with their addresses, as parse_host_list() reads them.
std::string testbed_host_list(const SwitchTree& tree);

}  // namespace slackline::hw
