// Breadth-first search over a Kronecker graph in global memory (Grappa, Graph 500).
#pragma once

#include <cstdint>
#include <vector>

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// The graph has 2^scale vertices and edge-factor · 2^scale drawn edges (sched/workload/
/// kronecker.h); a vertex's neighbours, and its word for its parent, are at home at one rank:
/// words stand at linear addresses. The search starts at the busiest vertex and goes level by
/// level, a barrier of all cores after each. In a level every core runs a parallel loop over the
/// edges of those of its vertices that were reached last, split in halves, recursively, into tasks
/// of at most `threshold` edges. For each the task sends a delegate to the neighbour's home,
/// which makes the vertex its parent if it has none, and waits for the answer. A step is a level.
///
/// The contract: the word of every vertex that was reached holds its parent's number, as the record
/// of the delegate that came first in the plan; later ones write nothing. Throws InputError for
/// options out of their range.
Schedule breadth_first_search(const Spec& spec);

/// The parents that its schedule ends with: kUnreached where a vertex has none.
std::vector<std::uint32_t> breadth_first_parents(const Spec& spec);

/// No fewer than it makes.
std::uint64_t breadth_first_search_ops(const Spec& spec);
extern const PatternEntry kBreadthFirstSearchPattern;

}  // namespace slackline::sched
