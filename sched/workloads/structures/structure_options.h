// What the data-structure patterns are told.
#pragma once

#include <cstdint>
#include <string_view>

#include "sched/pattern/shared_options.h"

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
/// Entries all of `entry` bytes, or each of a size that is drawn, at most so many.
enum class EntrySizes : std::uint8_t { kFixed, kDrawn };
/// Whether operations may have their own rank for a target.
enum class StructureTargets : std::uint8_t { kOthers, kAny };
/// How a push or a pop takes a place of the queue: by a fetch_add; by compare_swaps of which each
/// expects what the one before it found; or by compare_swaps of which each expects what a get has
/// just read.
enum class Claim : std::uint8_t { kAdd, kSwap, kReadSwap };

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
  std::uint64_t entry = 8;  // bytes, the key's word among them: a multiple of 8, ≤ kMostEntry
  EntrySizes sizes = EntrySizes::kFixed;
  StructureTargets targets = StructureTargets::kOthers;
  Claim claim = Claim::kAdd;
  Time compute{0};  // before each operation, on the main lane
  Progress progress = Progress::kMain;
  Time contention{0};  // what a handler takes longer on the thread, since it shares its core
};

inline constexpr std::uint64_t kMostEntry = 1u << 20;

inline constexpr std::string_view kPromises = "crw|cw|cr|cl|checksum";
inline std::string_view name(Promise level) {
  return choice_name(kPromises, static_cast<std::size_t>(level));
}

/// Parts of the lists of tables and queues, in their order; each puts its own between them.
inline constexpr auto kStructureOperations =
    option_list(kRanksOption, kInFlightOption, kHandlerOption,
                count_option<&StructureOptions::operations>(
                    "operations", "1 or more", "structures, one-sided: of each client"));
inline constexpr auto kStructureAccess = option_list(
    count_option<&StructureOptions::phases>(
        "phases", "1|2", "structures: writes and reads in turns, or in phases", 1, 2),
    choice_option<&StructureOptions::level>("level", kPromises, "structures: what may run beside"),
    choice_option<&StructureOptions::via>("via", "rdma|am", "structures: by RDMA or by call"),
    count_option<&StructureOptions::slots>("slots", "1 or more",
                                           "structures: of a rank's part of the table, or a queue")
        .or_else("as many as are needed"),
    size_option<&StructureOptions::entry>("entry", "8 to 1MiB", "structures: bytes of an entry"),
    choice_option<&StructureOptions::sizes>("sizes", "fixed|drawn",
                                            "structures: entries of that size, or at most"),
    choice_option<&StructureOptions::targets>("targets", "others|any",
                                              "structures: other ranks, or the own one too"));
inline constexpr auto kStructureClients = option_list(
    count_option<&StructureOptions::seed>(
        "seed", "0 or more", "structures, one-sided: draws targets and keys", 0, (1ull << 63) - 1),
    count_option<&StructureOptions::clients>("clients", "1 to ranks",
                                             "structures: how many ranks operate")
        .or_else("all"));
inline constexpr auto kStructureTimes = option_list(
    time_option<&StructureOptions::compute>("compute", "structures: before each operation"),
    choice_option<&StructureOptions::progress>("progress", "main|thread",
                                               "structures: who runs handlers"),
    time_option<&StructureOptions::contention>("contention",
                                               "structures: a handler on the thread more"));

}  // namespace slackline::sched
