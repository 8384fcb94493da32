// The cores of this host that a thread may run on, and the NUMA nodes that they belong to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace slackline::hw {

/// Of the calling thread, ascending. Throws EnvironmentError if the system does not tell.
std::vector<std::uint32_t> allowed_cores();

/// From now on the calling thread runs on these alone, and so do threads that it starts later;
/// those that it has started stay where they may be. At least one core. Throws EnvironmentError if
/// the system refuses.
void run_on(std::span<const std::uint32_t> cores);

/// Where the calling thread runs just now; −1 if the system does not tell.
int current_core();

/// The NUMA node of a core; −1 if the machine does not tell. `sys` is where the kernel does.
int node_of_core(std::uint32_t core, const std::string& sys = "/sys");

/// As the kernel writes it: "0-3,8". `cores` ascend.
std::string core_list(std::span<const std::uint32_t> cores);

}  // namespace slackline::hw
