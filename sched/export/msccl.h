#pragma once

#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// The schedule as an MSCCL algorithm: ranks are GPUs, and memory is counted in chunks of the size
/// that divides all offsets and all pieces but those at the end of a buffer. MSCCL itself cuts the
/// user's buffer evenly into nchunksperloop chunks, so a short last block becomes a whole one.
///
/// The name is the first 63 characters of the title. Every output counts as long as the longest,
/// since the runtime takes no others.
///
/// The buffer that a rank's contract speaks of is its output (the algorithm is in place), also if
/// no step touches it, and others are scratch. Each (peer, direction) of a rank has a thread block,
/// copies and reductions have one more; what a step waits for in other thread blocks becomes
/// `depid`/`deps`, on `nop` steps where there are several. Sends and puts with immediate become `s`
/// and `r`, a copy `cpy`, a reduction of two operands in place `re`. Credits, joins and flushes are
/// left out: the runtime has a flow control of its own, and order that runs through them is kept. A
/// contract that spreads all of one rank's output to the same places of every other is the
/// collective `broadcast`, any other `custom`, which MSCCL takes and RCCL's reader does not.
///
/// Throws Unsupported, naming the operation or the limit, on a contract that speaks of several
/// buffers of a rank that steps touch, as of several messages, on messages of a rank to itself,
/// which the runtime does not load, on all other kinds, on pieces that
/// are not contiguous, on more than 64 steps a thread block, 32 thread blocks a GPU or 71 chunks a
/// step, on an offset above 32767 chunks (the runtime keeps 16 bits), on an order that would make
/// thread blocks wait for each other in a circle, and on schedules that are not static.
std::string write_msccl(const Schedule& schedule);

}  // namespace slackline::sched
