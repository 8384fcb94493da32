// Reads algorithms for MSCCL's GPU runtime, in its XML.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sched/schedule.h"

namespace slackline::sched {

/// What an algorithm does not say itself, but the call that it serves.
struct MscclOptions {
  std::optional<std::uint64_t> chunk_bytes;  // of a chunk; 4 KiB unless given
};

/// The algorithm as a schedule. A GPU is a rank; a thread block is a lane, whose steps follow each
/// other; a channel between two GPUs is a channel, and it is `eager` (sched/op.h), since a step
/// that sends ends before its receive begins. (The runtime buffers a few chunks, no more. How many
/// is not looked at.) What a step waits for in another thread block is an edge.
///
/// `s`, `r`, `cpy`, `re` are a send, a receive, a copy and a reduction. `rcs`, `rrs`, `rrc` and
/// `rrcs` are a receive and what follows it, of which a reduction has what came in memory of the
/// thread block's own. `nop` is a join. So each operation is at step `s` of its lane.
///
/// The contract is that of `coll`: allreduce, allgather, reduce_scatter, alltoall, broadcast (whose
/// root is the GPU that receives nothing). Of `custom` nothing is claimed about the end. In place,
/// input and output are one memory, as the runtime wants it: of allgather and reduce_scatter the
/// smaller one is the GPU's own part of the larger. An algorithm that serves both is read out of
/// place.
///
/// Throws InputError, naming file and line, on what is not such XML, on more than 1,024 GPUs, on
/// GPUs, thread blocks or
/// steps out of order, on chunks beyond a buffer, on two thread blocks of one GPU that share a
/// channel to or from a peer, on a message without its other half or of two sizes, on a wait for a
/// step that does not tell of its end (hasdep="0"), and on steps that wait for each other. Throws
/// Unsupported on another `coll`, and on a broadcast without one root.
Schedule read_msccl(std::string_view text, std::string_view file = "msccl",
                    const MscclOptions& options = {});

/// Whether `text` begins as such an algorithm does, after comments.
bool looks_like_msccl(std::string_view text);

}  // namespace slackline::sched
