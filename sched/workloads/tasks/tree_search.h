// Unbalanced tree search in global memory (Grappa's UTS-mem; Olivier et al., LCPC 2006).
#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// The tree `tree` of the benchmark, to `depth` if that is given
/// (sched/workloads/tasks/uts_tree.h), with its vertices in global memory: each at home on a rank
/// drawn from its digest. Rank 0 begins with the root. To visit a vertex a task sends a delegate to
/// its home, whose handler counts the visit and answers with the vertex's descriptor (24 bytes);
/// the task then works for `work` and spawns its children at its own core. Tasks take what was
/// spawned last. A core without work sends one task stealing: it asks a core drawn at random for
/// the older half of what no task has begun, at most 64 vertices, and rests before it asks again, 2
/// µs at first and 64 at most. That every vertex is visited, and that there is nothing more to
/// steal, the plan knows; real programs detect it.
///
/// The contract: every vertex's count is the sum of its value and one visit's record. Throws
/// InputError for options out of their range, and for more than 2^24 vertices.
Schedule tree_search(const Spec& spec);

/// About as many as it makes: failed steals are not known beforehand.
std::uint64_t tree_search_ops(const Spec& spec);
extern const PatternEntry kTreeSearchPattern;

}  // namespace slackline::sched
