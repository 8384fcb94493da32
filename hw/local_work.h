// What a rank does with its own memory alone: copies, reductions, and looking at flags.
#pragma once

#include <cstdint>
#include <span>

#include "hw/memory.h"
#include "hw/program.h"

namespace slackline::hw {

/// Calls visit(from, to) for the pieces that two equally long lists of slices have in common: each
/// is one run in both. Pieces without bytes are left out.
template <class Visit>
void for_each_piece(std::span<const sched::Slice> from, std::span<const sched::Slice> to,
                    Visit&& visit) {
  std::size_t f = 0;
  std::size_t t = 0;
  std::uint64_t f_used = 0;
  std::uint64_t t_used = 0;
  while (f < from.size() && t < to.size()) {
    const std::uint64_t bytes = std::min(from[f].bytes - f_used, to[t].bytes - t_used);
    if (bytes != 0) {
      visit(sched::Slice{from[f].buffer, from[f].offset + f_used, bytes},
            sched::Slice{to[t].buffer, to[t].offset + t_used, bytes});
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

/// Carries out a copy. Overlapping source and target are as memmove has them.
void copy(const RankProgram& program, RankMemory& memory, std::uint32_t op);

/// Carries out a reduce: adds bytes, modulo 256.
void reduce(const RankProgram& program, RankMemory& memory, std::uint32_t op);

/// Whether the bytes of a poll's flag are all there. Values have no zero bytes, and a flag's memory
/// is zero until its put. Clears the flag if the program says that it is used again.
bool see_flag(const RankProgram& program, RankMemory& memory, std::uint32_t op);

}  // namespace slackline::hw
