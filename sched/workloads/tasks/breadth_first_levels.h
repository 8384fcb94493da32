// Breadth-first search over a Kronecker graph, with one message for each pair of ranks and level.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/pattern/pattern.h"
#include "sched/workloads/tasks/kronecker.h"

namespace slackline::sched {

/// The graph, its homes and its root are those of breadth-first-search (breadth_first_search.h);
/// what is done there edge by edge is done here level by level. In a level a rank scans the edges
/// that leave those of its vertices that were reached last, for `work` an edge. For each edge it
/// writes a record of `record` bytes, which begins with the vertex that asks to be the parent. All
/// records for one home go in one message, with a mark behind it. The home works `handler` for each
/// record, and copies the records of those vertices that had no parent into their words. A rank has
/// passed a level when what it sent was acknowledged, what came was worked on, and all others have
/// come to the barrier. A step is a level.
///
/// So there are as many operations as there are pairs of ranks and levels, and not edges. Exact are
/// the edges of each rank in each level, the records and bytes of each message, and the parents:
/// the first in the order of the ranks, of a rank's vertices in the order in which they were
/// reached. Summed up are the times of the edges of a level, at either end; there are no tasks.
///
/// The contract: the word of every vertex that was reached, but the root, holds the record of its
/// parent. Throws InputError for options out of their range.
Schedule breadth_first_by_levels(const Spec& spec);

struct LevelSearch {
  Schedule schedule;
  std::vector<std::uint32_t> parents;  // that it ends with: kUnreached where a vertex has none
};
/// The same over a graph that is there already: the one that the spec names.
LevelSearch search_levels(const Spec& spec, const Graph& graph);

/// No fewer than it makes, where the graph has no more than 32 levels; the graph's memory is
/// counted in.
std::uint64_t breadth_first_levels_ops(const Spec& spec);
extern const PatternEntry kBreadthFirstLevelsPattern;

}  // namespace slackline::sched
