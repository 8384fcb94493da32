// Which operations the clients of a data structure carry out, and on what: drawn from the seed.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/pattern/pattern.h"
#include "sched/workloads/structures/structure.h"

namespace slackline::sched {

/// All but the ids of operations, which StructureWriter fills in.
struct StructureWorkload {
  std::vector<StructureOp> ops;      // by rank and index
  std::vector<StructurePart> parts;  // by rank; only what is given
  std::uint64_t slots = 0;
  std::uint32_t first_value = 0;  // the first ValueId that no entry has
  bool barrier = false;           // between the phases
};

/// Throw InputError as hash_table() and queue() say.
StructureWorkload table_workload(const Spec& spec);
StructureWorkload queue_workload(const Spec& spec);

/// A draw that depends on nothing else.
std::uint64_t structure_draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                             std::uint64_t c = 0);

}  // namespace slackline::sched
