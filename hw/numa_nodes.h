// The NUMA nodes of this machine: which cores they have, and how far they are from each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::hw {

/// "0-3,8": the numbers of a list of the kernel's, ascending. What is no such list is empty.
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

class NumaNodes {
 public:
  /// `root` holds node0, node1, …, each with cpulist and distance. Machines that tell nothing have
  /// no nodes.
  static NumaNodes of_this_machine(const std::string& root = "/sys/devices/system/node");

  /// The nodes of some cores (allowed_cores(), say), ascending.
  std::vector<int> of_cores(const std::vector<std::uint32_t>& cores) const;

  /// All of them, ascending.
  std::vector<int> numbers() const;

  /// From the nearest of `from` to `node`, as the kernel counts: 10 is the same node. Where it is
  /// not known it counts as another node's, 20.
  int distance(const std::vector<int>& from, int node) const;

 private:
  struct Node {
    int number = 0;
    std::vector<std::uint32_t> cores;
    std::vector<int> distances;  // to each node, in their order
  };
  std::vector<Node> nodes_;
};

}  // namespace slackline::hw
