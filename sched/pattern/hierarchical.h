// Collectives of machines with several ranks a node, which are near each other: few steps, and few
// messages between nodes.
#pragma once

#include "sched/pattern/collective_plan.h"

namespace slackline::sched {

struct NodeOptions {
  /// Consecutive ranks that are one node; ranks are a multiple of it. 0: the largest divisor of the
  /// ranks whose square is not above them.
  std::uint32_t per_node = 0;
};

/// n ranks on N nodes of k each: rank r = i k + l is the l-th of node i. `root` has no meaning. All
/// throw InputError if the ranks are no multiple of NodeOptions::per_node.

/// The sum within each node by a ring (k − 1 steps), after which each of its ranks has a k-th of
/// the node's; the sum among the l-th ranks of all nodes by a ring there and back (2 (N − 1)); and
/// a round within each node that brings the sums to all (k − 1). Each rank sends 2 m (n − 1) / n,
/// of which 2 m (N − 1) / n leave its node.
CollectivePlan hierarchical_allreduce(const MulticastOptions& options);
/// The first two rounds, with shares so placed that share r ends at rank r. k − 1 + N − 1 steps.
CollectivePlan hierarchical_reduce_scatter(const MulticastOptions& options);
/// Shares go round the l-th ranks of all nodes (N − 1 steps), and then what each has got round its
/// node (k − 1). Each share comes to each node once.
CollectivePlan hierarchical_allgather(const MulticastOptions& options);
/// In two dimensions: a rank gives the l-th of its node, in one message, what goes to the l-th
/// ranks of all nodes (k − 1 steps); then it sends each node, in one message, all that its node has
/// for its peer there (N − 1). k + N − 2 steps where pairs take n − 1.
CollectivePlan hierarchical_alltoall(const MulticastOptions& options);

}  // namespace slackline::sched
