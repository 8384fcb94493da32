// How messages between the cores of many nodes are routed, and how many queues that takes.
#pragma once

#include <cstdint>

namespace slackline::sched {

/// Routes over nodes of `cores` ranks each, and over groups of `group` nodes, groups of as many
/// groups, and so on (Grappa's virtual topology). A core sends to any core of its own node, and to
/// the core of its own number at the nodes of its group; the first node of a group is its router:
/// it alone has queues to the routers of the groups beside it. So a message goes up through
/// routers, once across, down, and at last to its core within the node.
class Hierarchy {
 public:
  Hierarchy(std::uint32_t ranks, std::uint32_t cores, std::uint32_t group)
      : ranks_(ranks), cores_(cores), group_(group) {}

  /// The rank that `at` sends a message for `to` ≠ at to.
  std::uint32_t next(std::uint32_t at, std::uint32_t to) const;
  std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;

  /// Different (sender, next) over all pairs of ranks.
  std::uint64_t queues() const;
  std::uint32_t most_hops() const;

 private:
  std::uint32_t nodes() const { return (ranks_ - 1) / cores_ + 1; }

  std::uint32_t ranks_;
  std::uint32_t cores_;
  std::uint32_t group_;
};

}  // namespace slackline::sched
