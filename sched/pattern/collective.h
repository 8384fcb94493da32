// Collectives made of multicasts: run backwards a multicast reduces, from every rank at once it
// gathers. Of allreduce and allgather there are other algorithms, too.
#pragma once

#include <string>

#include "sched/pattern/collective_plan.h"
#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// `by` names the multicast, or one of collective_algorithms.h; bytes, blocks and root are the
/// options'. Throws InputError for a `by` that is neither such an algorithm nor a pattern without
/// racks, for the root of an algorithm that has none, and as the multicast or the algorithm does.

/// The multicast backwards, its blocks too: what it last sent over an edge comes back over it
/// first, added up on the way, until the root has the sum. As many steps; on the circulant k − 1 +
/// ⌈log2 n⌉.
CollectivePlan reduce_plan(const MulticastOptions& options, const std::string& by);

/// reduce_plan, then the multicast of the sum: twice the steps. A block goes out as soon as its sum
/// is there.
CollectivePlan allreduce_plan(const MulticastOptions& options, const std::string& by);

/// Every rank is the root of a multicast of its own `bytes`, all of them the same with ranks
/// counted from the root: as many steps as one. What a rank sends another in one step goes in
/// messages of up to kMostPieces runs of memory; on the circulant a rank has one target per step.
/// `root` has no meaning.
CollectivePlan allgather_plan(const MulticastOptions& options, const std::string& by);

/// No rank leaves before every rank has come. On the circulant an allgather without bytes:
/// ⌈log2 n⌉ steps; on every other pattern an allreduce without bytes.
CollectivePlan barrier_plan(const MulticastOptions& options, const std::string& by);

}  // namespace slackline::sched
