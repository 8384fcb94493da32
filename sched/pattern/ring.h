// Collectives round a ring: in every step each rank sends one share to the next rank.
#pragma once

#include "sched/pattern/collective_plan.h"

namespace slackline::sched {

/// n ranks; the buffer is cut into n shares. Every rank sends n − 1 shares in the n − 1 steps of a
/// round, (n − 1) / n of the buffer. `root` has no meaning.

/// A round in which what comes is added to what stands there, so that share r becomes whole at rank
/// r; then a round that brings the sums to all. 2 (n − 1) steps.
CollectivePlan ring_allreduce(const MulticastOptions& options);
/// The first round alone.
CollectivePlan ring_reduce_scatter(const MulticastOptions& options);
/// The second round alone; `bytes` are each rank's own.
CollectivePlan ring_allgather(const MulticastOptions& options);

}  // namespace slackline::sched
