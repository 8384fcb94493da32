// Fetches ahead into the cache what an operation names in its schedule's tables: slices and
// arguments stand in the order in which a pattern made them, which may not be that of operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sched/argument_table.h"

namespace slackline::sched {

/// Of a large table that is gone through once: what stands some lines of the cache further on. The
/// processor does so by itself, but not from one small page to the next.
template <class Entry>
void prefetch_ahead(const Entry* entry) {
  constexpr std::size_t kBytes = 2048;
  // Beyond its end as well, and of no table: so it is a number that is added to.
  __builtin_prefetch(
      reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(entry) + kBytes));
}

/// So many operations before it is needed.
inline constexpr std::size_t kFetchedAhead = 16;

/// Places beyond the tables are left alone.
inline void prefetch(const Op& op, std::span<const Slice> slices, const ArgumentTable& arguments) {
  if (op.reads.first < slices.size()) __builtin_prefetch(&slices[op.reads.first]);
  if (op.writes.first < slices.size()) __builtin_prefetch(&slices[op.writes.first]);
  const auto cells = arguments.cells();
  if (op.arguments < cells.size()) __builtin_prefetch(&cells[op.arguments]);
}

}  // namespace slackline::sched
