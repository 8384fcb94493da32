// A sum at all ranks in ⌈log2 n⌉ steps, for any number of ranks n.
#pragma once

#include "sched/pattern/collective_plan.h"

namespace slackline::sched {

/// Every rank sends `bytes` in each step, to one other (Bruck and Ho, Efficient Global Combine
/// Operations in Multi-Port Message-Passing Systems, 1993; Bar-Noy, Kipnis and Schieber, An Optimal
/// Algorithm for Computing Census Functions in Message-Passing Systems, 1993). A rank keeps two
/// sums: of the k ranks behind it, and of these and itself. It is told one of them by a rank
/// further behind, and so has 2k or 2k + 1: k goes through the first bits of n − 1. Where a sum
/// without itself is wanted later, a rank has up to three more buffers of `bytes`: for that sum,
/// and for what it is told, in turns. `root` has no meaning. Throws InputError as ShareWriter does,
/// and where these buffers have more than 2^62 bytes.
CollectivePlan bruck_allreduce(const MulticastOptions& options);

}  // namespace slackline::sched
