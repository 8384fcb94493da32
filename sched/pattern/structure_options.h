// What the data-structure patterns are told, and its text in a spec.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sched/units.h"

namespace slackline::sched {

/// Inserts or pushes, finds or pops, or both.
enum class StructureWork : std::uint8_t { kWrite, kRead, kBoth };

/// What may run beside an operation ("concurrency promises", tables II and III of RDMA vs. RPC).
enum class Promise : std::uint8_t {
  kReadWrite,  // crw: anything
  kWrite,      // cw: inserts or pushes only
  kRead,       // cr: finds or pops only
  kLocal,      // cl: nothing of another rank
  kChecksum,   // checksum: anything; a push carries a sum that tells whether it has arrived
};
enum class StructureVia : std::uint8_t { kRdma, kAm };
/// Who looks for active messages: the main loop between its operations, or a thread of its own.
enum class Progress : std::uint8_t { kMain, kThread };
/// A queue on every rank, or one on rank 0, which then only serves.
enum class QueueHosts : std::uint8_t { kEach, kOne };

struct StructureOptions {
  std::uint32_t operations = 1;  // of each client, and of each kind; ≥ 1
  StructureWork work = StructureWork::kBoth;
  std::uint32_t phases = 2;  // both: writes, a barrier, reads (2), or in turns (1)
  Promise level = Promise::kReadWrite;
  StructureVia via = StructureVia::kRdma;
  std::uint64_t slots = 0;        // of a rank's part of the table, or of a queue; 0: as `load` says
  PartsPerMillion load{500'000};  // keys over slots of the fullest part; 0 < load ≤ 1
  std::uint64_t seed = 0;         // of targets, homes and what is looked for
  std::uint32_t clients = 0;      // the last so many ranks operate; 0: all, but for a single host
  QueueHosts queues = QueueHosts::kEach;
  Time compute{0};  // before each operation, on the main lane
  Progress progress = Progress::kMain;
  Time contention{0};  // what a handler takes longer on the thread, since it shares its core
};

std::string_view name(Promise level);

/// The options of a spec that are read here, and in which order they are written.
std::span<const std::string_view> structure_keys();

/// Reads one of them for the pattern (`op` has other values for a queue than for a table). Throws
/// InputError.
void read_structure_option(std::string_view pattern, std::string_view key, std::string_view value,
                           StructureOptions& options);

/// ",key=value" for each that differs from its default.
std::string format_structure_options(std::string_view pattern, const StructureOptions& options);

}  // namespace slackline::sched
