// What a rank does with its own memory alone: copies, reductions, and looking at flags.
#pragma once

#include <cstdint>

#include "hw/executor/memory.h"
#include "hw/executor/program.h"

namespace slackline::hw {

/// Carries out a copy. Overlapping source and target are as memmove has them.
void copy(const RankProgram& program, RankMemory& memory, std::uint32_t op);

/// Carries out a reduce: adds bytes, modulo 256.
void reduce(const RankProgram& program, RankMemory& memory, std::uint32_t op);

/// Whether the bytes of a poll's flag are all there. Values have no zero bytes, and a flag's memory
/// is zero until its put.
bool is_flag_up(const RankProgram& program, RankMemory& memory, std::uint32_t op);

/// For a flag that is used again: zeros.
void lower_flag(const RankProgram& program, RankMemory& memory, std::uint32_t op);

}  // namespace slackline::hw
