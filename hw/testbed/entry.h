// How commands come to a testbed's hosts: by a program that takes ssh's place.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hw/testbed/switch_tree.h"

namespace slackline::hw {

/// How many hosts a testbed may have.
inline constexpr std::uint32_t kMostTestbedHosts = 250;

/// "10.77.0.1" for host 0, and so on.
std::string testbed_address(std::uint32_t host);

/// The hosts, with their addresses, as parse_host_list() reads them.
std::string testbed_host_list(const SwitchTree& tree);

/// How such a program begins, as a shell script: "$2" is the host's name then, "$3" the command and
/// "$space" the host's namespace. `space_of` is the path of a host's namespace.
std::string choice_of_host(const SwitchTree& tree,
                           const std::function<std::string(std::uint32_t host)>& space_of);

/// The program for hosts that are namespaces: it carries a command to the host of that name, where
/// the command sees the host's network and name, and a /dev/shm of its own.
std::string entry_script(const SwitchTree& tree,
                         const std::function<std::string(std::uint32_t host)>& space_of);

}  // namespace slackline::hw
