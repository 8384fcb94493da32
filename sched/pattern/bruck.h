// Bruck's collectives: ⌈log2 n⌉ steps for any number of ranks n, each at twice the distance of the
// one before (Bruck, Ho, Kipnis, Upfal and Weathersby, 1997).
#pragma once

#include "sched/pattern/collective_plan.h"

namespace slackline::sched {

/// A rank sends all shares that it has, its own and those of the ranks behind it, as far as they
/// are missing: 1, 2, 4, … shares, n − 1 together. `bytes` are each rank's own; `root` has no
/// meaning.
CollectivePlan bruck_allgather(const MulticastOptions& options);

/// Piece j of `bytes` of rank i comes to rank j as piece i. In step k a rank sends the pieces that
/// have a distance left with bit k, up to ⌊n/2⌋, which are copied into one run of memory before,
/// and out of it behind. Each rank has 2n + 2⌊n/2⌋ pieces of memory: what it sends (lost on the
/// way), what it receives, a run to send and one that comes. `root` has no meaning.
CollectivePlan bruck_alltoall(const MulticastOptions& options);

}  // namespace slackline::sched
