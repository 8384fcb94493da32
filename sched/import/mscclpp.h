// Reads execution plans of MSCCL++, in its JSON.
#pragma once

#include <string_view>

#include "sched/import/msccl.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// The plan as a schedule. A GPU is a rank, a thread block a lane, and an operation of it a step.
///
/// A `signal` is a message without bytes, and the `wait` that meets it its receive: the k-th of a
/// channel from one GPU to another meets the k-th. Such channels are `eager` (sched/op.h), since a
/// semaphore counts what is not waited for yet. `put` and `pws` write to the other GPU, `get` reads
/// from it; `copy` and `re` are a copy and a reduction; `res`, `rre` and `rres` are those one after
/// the other, what was read landing in memory of its own. `flush` is a join. A relaxed signal is
/// one like others.
///
/// What is between two `nop`s or `barrier`s of a thread block is not ordered, as threads do not
/// wait for each other there: a `nop` waits for the ends of all before it, and all behind it for
/// the `nop`. What is written to another GPU has ended once it is acknowledged. (Over port channels
/// the runtime has an end later, with `flush`, and signals that cannot overtake what was put
/// before.)
///
/// The contract is that of `collective`: allreduce, allgather, reducescatter, alltoall, or
/// broadcast, whose root is the GPU that gets nothing from others. Of custom nothing is claimed
/// about the end. In place, input and output are one memory, as in read_msccl(). `options` says how
/// large a chunk is.
///
/// Throws InputError, naming file and place, on what is no such JSON, on GPUs or thread blocks out
/// of order, on chunks beyond a buffer, on indices of channels and buffers that there are not, on a
/// signal without its wait or a wait without its signal, on a barrier that not all its thread
/// blocks come to, on a broadcast without one root, on operations that wait for each other, on a
/// message of a size that the plan is not for, and on what the runtime would not carry out as it
/// stands (pws over memory channels, a second copy in one operation, …); and on what is not
/// supported: packets (protocol LL and the operations of it), switch channels, pipelines,
/// semaphores, reuse_resources, sums of another kind (reduce_op), and another collective.
Schedule read_mscclpp(std::string_view text, std::string_view file = "mscclpp",
                      const MscclOptions& options = {});

/// Whether JSON begins as such a plan does.
bool looks_like_mscclpp(std::string_view text);

}  // namespace slackline::sched
