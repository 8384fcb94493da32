// A network of hosts on this machine, for as long as this process lives.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hw/descriptor.h"
#include "hw/testbed/guest.h"
#include "hw/testbed/scripts.h"
#include "hw/testbed/switch_tree.h"

namespace slackline::hw {

/// The hosts and switches are network namespaces without names, which this process alone holds: so
/// nothing of them is left once it has ended, whatever ended it, and nothing outside of them is
/// touched. With a GuestImage each host is a virtual machine, which is booted for each command.
class Testbed {
 public:
  /// Builds it; `progress` hears how many of its hosts are ready. Throws InputError for more than
  /// kMostTestbedHosts, EnvironmentError where this process may not make namespaces, a program is
  /// missing, or the kernel lacks a part (netem, for latencies of the tree's).
  Testbed(const SwitchTree& tree, TestbedLatency latency, const std::optional<GuestImage>& guests,
          const std::function<void(std::uint32_t ready)>& progress = {});

  /// What takes ssh's place, and the list of hosts that goes with it: files that are there while
  /// this is.
  std::string entry_program() const { return path_of(entry_); }
  std::string host_list() const { return path_of(hosts_); }

 private:
  static std::string path_of(const Descriptor& descriptor);
  void carry_out(const std::string& script, const Descriptor& space) const;

  std::vector<Descriptor> spaces_;  // of hosts
  Descriptor switches_;
  Descriptor entry_, hosts_;
};

}  // namespace slackline::hw
