// What each GPU does in an execution plan of MSCCL++, before it is written.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sched/export/mscclpp_layout.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// Chunks of a GPU, which may be another than the one that looks at them.
struct MscclppSide {
  std::uint32_t gpu = 0;
  MscclppPlace place;
};

struct MscclppOperation {
  std::string_view name;      // nop, barrier, signal, wait, put, get, copy, re
  std::int64_t channel = -1;  // signal, wait: an index into the GPU's peers
  std::uint32_t barrier = 0;
  std::vector<MscclppSide> from;
  std::vector<MscclppSide> to;
};

struct MscclppBlock {
  std::vector<MscclppOperation> operations;
  std::vector<std::int64_t> channels;  // of its signals and waits, each once
};

struct MscclppGpu {
  std::vector<std::uint32_t> peers;  // what each of its channels leads to
  std::vector<MscclppBlock> blocks;
};

struct MscclppPlan {
  MscclppLayout layout;
  std::vector<MscclppGpu> gpus;
};

/// The operations of a GPU follow each other in one thread block, and where that has no room in the
/// next, which a barrier starts. Throws Unsupported as write_mscclpp() says.
MscclppPlan plan_mscclpp(const Schedule& schedule);

// What the runtime has room for.
inline constexpr std::size_t kMscclppOperations = 64;  // of a thread block
inline constexpr std::size_t kMscclppChannels = 16;    // of a thread block
inline constexpr std::size_t kMscclppBarriers = 16;    // of a GPU
inline constexpr std::size_t kMscclppOperands = 10;    // of a sum

}  // namespace slackline::sched
