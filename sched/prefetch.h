// Fetches ahead into the cache what an operation names in its schedule's tables: slices and
// arguments stand in the order in which a pattern made them, which may not be that of operations.
#pragma once

#include <span>

#include "sched/op.h"

namespace slackline::sched {

/// So many operations before it is needed.
inline constexpr std::size_t kFetchedAhead = 16;

/// Places beyond the tables are left alone.
inline void prefetch(const Op& op, std::span<const Slice> slices,
                     std::span<const OpArguments> arguments) {
  if (op.reads.first < slices.size()) __builtin_prefetch(&slices[op.reads.first]);
  if (op.writes.first < slices.size()) __builtin_prefetch(&slices[op.writes.first]);
  if (op.arguments < arguments.size()) {
    const char* const own = reinterpret_cast<const char*>(&arguments[op.arguments]);
    __builtin_prefetch(own);
    __builtin_prefetch(own + 64);
  }
}

}  // namespace slackline::sched
