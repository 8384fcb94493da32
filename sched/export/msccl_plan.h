// How a schedule is laid out on MSCCL's thread blocks and chunks, before it is written.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sched/schedule.h"

namespace slackline::sched {

/// A piece of memory in chunks. `buffer` is 'o' or 's'.
struct MscclPlace {
  char buffer = 'o';
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

struct MscclStep {
  OpId op;
  const char* type = "nop";
  MscclPlace source;
  MscclPlace target;
  /// The thread blocks of the same GPU, and their steps, that it waits for: at most one per block.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> after;
};

struct MscclBlock {
  std::int64_t send = -1;  // the peer, or none
  std::int64_t recv = -1;
  std::vector<MscclStep> steps;
};

struct MscclGpu {
  std::uint64_t output_chunks = 0;
  std::uint64_t scratch_chunks = 0;
  std::vector<MscclBlock> blocks;
};

struct MscclPlan {
  std::uint64_t chunk_bytes = 0;
  /// One rank's output is all said before, and every rank's holds the same at the same places
  /// after.
  bool broadcast = false;
  std::vector<MscclGpu> gpus;
};

/// Steps in program order, with every `after` that an earlier step of the block does not imply; no
/// nop steps yet. Throws Unsupported as write_msccl() says.
MscclPlan plan_msccl(const Schedule& schedule);

inline constexpr std::size_t kMscclSteps = 64;
inline constexpr std::size_t kMscclBlocks = 32;
inline constexpr std::uint64_t kMscclChunks = 71;
inline constexpr std::uint64_t kMscclOffset = 32'767;  // the runtime keeps it in 16 bits

}  // namespace slackline::sched
