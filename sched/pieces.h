// Two lists of slices of the same length, piece by piece: how what is gathered lands where it is
// scattered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "sched/op.h"

namespace slackline::sched {

/// Calls visit(from, to) for the pieces that two equally long lists of slices have in common: each
/// is one run in both. Pieces without bytes are left out.
template <class Visit>
void for_each_piece(std::span<const Slice> from, std::span<const Slice> to, Visit&& visit) {
  std::size_t f = 0;
  std::size_t t = 0;
  std::uint64_t f_used = 0;
  std::uint64_t t_used = 0;
  while (f < from.size() && t < to.size()) {
    const std::uint64_t bytes = std::min(from[f].bytes - f_used, to[t].bytes - t_used);
    if (bytes != 0) {
      visit(Slice{from[f].buffer, from[f].offset + f_used, bytes},
            Slice{to[t].buffer, to[t].offset + t_used, bytes});
    }
    f_used += bytes;
    t_used += bytes;
    if (f_used == from[f].bytes) {
      ++f;
      f_used = 0;
    }
    if (t < to.size() && t_used == to[t].bytes) {
      ++t;
      t_used = 0;
    }
  }
}

}  // namespace slackline::sched
