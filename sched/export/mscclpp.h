#pragma once

#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// The schedule as an execution plan of MSCCL++, in its JSON: what read_mscclpp() reads. A rank is
/// a GPU, and memory is counted in chunks of the size that divides all offsets and all pieces but
/// those at the end of a buffer, a short last one being a whole one there.
///
/// What a rank's contract speaks of before and after is its input and its output, in place if any
/// rank's bytes are both; all else is scratch memory. The collective is what the contract is:
/// allreduce, allgather, reducescatter, alltoall, broadcast (a name of ours: the runtime takes
/// any), or else custom, of which a plan says no end.
///
/// A send, or a put that notifies, is a put, a nop and a signal; its receive is a wait. A put that
/// does not, a get and a copy are what they are, one for each contiguous piece; a reduction is
/// `re`. Credits and barriers are signals and waits. Where no credits do, a receive into memory
/// that something else uses, too, tells its sender by a signal that it may write. Joins and flushes
/// are left out: order that runs through them is kept, by nops. All channels are memory channels.
///
/// A GPU does all of this in one thread block, in an order in which none waits for ever. Where that
/// has no room, the next thread block goes on behind a barrier.
///
/// Throws Unsupported, naming the operation or the limit, on atomics, calc, delay, flags that are
/// data, operands that a run decides, sums of more than 10 operands, on more than 17 thread blocks
/// of 64 operations of a GPU, on more than 2^20 chunks, on a contract that speaks of two buffers of
/// a rank at one time, on an order that would make a GPU wait for ever, and on schedules that are
/// not static.
std::string write_mscclpp(const Schedule& schedule);

}  // namespace slackline::sched
