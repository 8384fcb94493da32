// Shares down and up a binomial tree: scatter and gather.
#pragma once

#include "sched/pattern/collective_plan.h"

namespace slackline::sched {

/// ⌈log2 n⌉ steps. A rank has, on the way, the shares of its subtree, which for the root are all
/// n: that is the buffer of every rank. `bytes` are one rank's share.

/// Share i of the root comes to rank i. The root sends half of the tree first.
CollectivePlan binomial_scatter(const MulticastOptions& options);

/// The same backwards: each rank's share comes to the root.
CollectivePlan binomial_gather(const MulticastOptions& options);

}  // namespace slackline::sched
