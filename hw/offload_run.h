// Runs a queue program on a real NIC: every rank's queues on one port, in one process. Compiled
// against rdma-core, and not tried: it takes an mlx5 NIC (ConnectX-4 or later).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "offload/queue_program.h"
#include "sched/schedule.h"

namespace slackline::hw {

/// How queues get into the NIC.
enum class OffloadPath : std::uint8_t {
  kRaw,   // "raw": queue pairs of libibverbs, entries as raw bytes; no managed queues
  kDevx,  // "devx": objects made with the cross-channel bits by DevX
};

/// The numbers that the driver gave its objects, and where memory is.
struct NicObjects {
  struct Memory {
    std::uint64_t address = 0;
    std::uint32_t local_key = 0;
    std::uint32_t remote_key = 0;
  };
  std::vector<std::uint32_t> qpn;  // by queue pair (Queue::pair)
  std::vector<std::uint32_t> cqn;  // by completion queue
  std::vector<Memory> memory;      // by buffer
};

/// A queue as the NIC reads it (offload/encode_queues.h).
struct QueueBytes {
  offload::QueueId queue;
  std::uint32_t stride = 0;  // bytes of an entry: 64, or for receives 16, 32 or 64
  std::vector<std::uint8_t> bytes;
  std::optional<std::uint32_t> doorbell_record;         // none of managed queues
  std::optional<std::array<std::uint8_t, 8>> doorbell;  // of send and management queues
};
using QueueEncoder = std::function<std::vector<QueueBytes>(const NicObjects&)>;

struct OffloadRun {
  std::string device;  // "mlx5_0 port 1"
  double time_s = 0;   // from the last doorbell until every collector has told the host
};

/// `device` as for verbs. The program must have been proved (offload/check_queues.h). Throws
/// EnvironmentError, in one line that says what is missing, unless there is an mlx5 NIC with all
/// that the path needs, and when the NIC reports an error or is not done within ten seconds;
/// Unsupported for queues that the path cannot make, managed ones by kRaw, and for programs whose
/// counts do not begin at 0, as those of new objects do.
OffloadRun run_offloaded(const offload::QueueProgram& program, const sched::Schedule& schedule,
                         OffloadPath path, const std::string& device, const QueueEncoder& encode);

}  // namespace slackline::hw
