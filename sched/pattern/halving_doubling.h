// Collectives between ranks at distances that are powers of two: each exchanges with the rank whose
// number differs from its own in one bit.
//
// Of n ranks p = 2^⌊log2 n⌋ take part, L = log2 p. Where n is more, ranks 2i and 2i + 1 with
// i < n − p are partners: 2i takes part for both, and 2i + 1 is folded: what it has goes to 2i
// first, and what it is to have comes from there last (Thakur, Rabenseifner and Gropp, Optimization
// of Collective Communication Operations in MPICH, 2005).
#pragma once

#include "sched/pattern/collective_plan.h"

namespace slackline::sched {

/// `root` has no meaning in any of them.

/// Ranks exchange all that they have and add it: L steps of all bytes, and 2 more where ranks are
/// folded.
CollectivePlan recursive_doubling_allreduce(const MulticastOptions& options);

/// Rabenseifner's: ranks exchange halves of what they have, then halves of these, and add them, at
/// distances p / 2, …, 1; then they exchange the sums the other way round. 2 L steps, in which each
/// rank sends 2 (p − 1) / p of the bytes. Where ranks are folded 3 more: partners exchange halves
/// and add them, the folded rank's sum goes to the other, and the whole sum comes back in the end.
CollectivePlan rabenseifner_allreduce(const MulticastOptions& options);

/// Its first half, that ends with share r at rank r: L steps; n shares. 2 more where ranks are
/// folded: all that the folded rank has, and its share of the sum.
CollectivePlan recursive_halving_reduce_scatter(const MulticastOptions& options);

/// Its second half; `bytes` are each rank's own. L steps, in which each rank sends what it has; 2
/// more where ranks are folded: its share there, and all others back.
CollectivePlan recursive_doubling_allgather(const MulticastOptions& options);

}  // namespace slackline::sched
