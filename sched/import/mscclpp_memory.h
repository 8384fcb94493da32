// What an execution plan of MSCCL++ says before its thread blocks do anything: the memory and the
// channels of its GPUs, and what its collective promises.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sched/import/json_fields.h"
#include "sched/import/msccl.h"
#include "sched/program_writer.h"

namespace slackline::sched {

/// Chunks of one memory of a GPU.
inline constexpr std::uint32_t kMostPlanChunks = 1u << 20;

/// Channels are "memory" or "port": that which stands there. Throws InputError on others.
const std::string& channel_kind(const JsonPlace& place);

/// Places must outlive it. All of it throws InputError, naming the place.
class PlanMemory {
 public:
  PlanMemory(const JsonPlace& root, const MscclOptions& options);

  std::uint32_t gpu_count() const { return count_; }
  /// Parts of a chunk begin at multiples of it.
  std::uint64_t alignment() const { return alignment_; }

  /// Title, buffers, and facts of the begin and the end; but a broadcast's facts come last.
  void add_to(ProgramWriter& builder);
  bool is_broadcast() const { return collective_ == "broadcast"; }
  /// The root is the GPU to which nothing comes from another one: the one that was not `written`.
  void add_broadcast(const std::vector<bool>& written, ProgramWriter& builder) const;

  /// The peers of a GPU's channels of that kind, in their order.
  const std::vector<std::uint32_t>& peers(std::uint32_t gpu, const std::string& kind) {
    return gpus_[gpu].peers[kind];
  }
  /// Chunks of the input (0), the output (1) or the scratch memory (2) of a GPU.
  Slice chunks(std::uint32_t gpu, std::uint32_t buffer, std::uint64_t first, std::uint64_t count,
               const JsonPlace& place) const;

 private:
  struct Gpu {
    std::uint32_t input = 0;  // chunks
    std::uint32_t output = 0;
    std::uint32_t scratch = 0;
    std::array<BufferId, 3> buffers;                                       // of them
    std::map<std::string, std::vector<std::uint32_t>, std::less<>> peers;  // by the kind of channel
  };

  void refuse_what_is_not_there() const;
  void add_gpu(const JsonPlace& place, ProgramWriter& builder);
  void add_contract(ProgramWriter& builder) const;
  void add_inputs(const JsonPlace& place, ProgramWriter& builder) const;
  void require_size() const;
  std::uint32_t part() const;
  bool in_parts() const { return collective_ == "allgather" || collective_ == "reducescatter"; }

  const JsonPlace& root_;
  const std::uint32_t count_;
  const std::uint64_t chunk_;
  const std::uint64_t alignment_;
  bool in_place_ = false;
  std::string collective_;
  std::vector<Gpu> gpus_;
};

}  // namespace slackline::sched
