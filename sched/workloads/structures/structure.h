// What a data-structure pattern makes beside its schedule: which operation of the structure is
// which operations of the schedule, and where the structure stands in memory. Checks and cost
// models read it.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/ids.h"
#include "sched/schedule.h"
#include "sched/workloads/structures/structure_options.h"

namespace slackline::sched {

enum class StructureAccess : std::uint8_t { kInsert, kFind, kPush, kPop };
constexpr bool is_write(StructureAccess access) {
  return access == StructureAccess::kInsert || access == StructureAccess::kPush;
}
constexpr bool is_of_table(StructureAccess access) {
  return access == StructureAccess::kInsert || access == StructureAccess::kFind;
}
/// "insert", "find", "push", "pop".
std::string_view name(StructureAccess access);

/// A bucket's flag: 0 while it is free; the reader's bit is kFirstReadBit + rank mod kReadBits.
inline constexpr std::uint64_t kTaken = 1;
inline constexpr std::uint64_t kWriting = 2;
inline constexpr std::uint32_t kFirstReadBit = 2;
inline constexpr std::uint32_t kReadBits = 62;

/// The words of a queue's control block.
enum class QueueWord : std::uint8_t { kTail, kTailReady, kHead, kHeadReady };
inline constexpr std::uint64_t kQueueWords = 4;
constexpr std::uint64_t offset_of(QueueWord word) { return 8 * static_cast<std::uint64_t>(word); }

/// An entry is the first bytes of a contract's value (sched/value_bytes.h), one word or more. The
/// first word, which is never 0, is the key and the first half of a value that is a function of it,
/// and stands for the entry wherever entries are told apart.
constexpr std::uint32_t key_of(std::uint64_t entry) { return static_cast<std::uint32_t>(entry); }
inline constexpr std::uint64_t kKeyMask = 0xffffffffu;
/// The first word of a value.
std::uint64_t entry_of(ValueId value);

/// One operation on a structure.
struct StructureOp {
  RankId rank;
  std::uint32_t index = 0;  // among its rank's
  std::uint8_t phase = 0;
  StructureAccess access = StructureAccess::kInsert;
  Promise level = Promise::kReadWrite;
  RankId target;  // whose memory it acts on
  ValueId value;  // written, looked for or, by call, popped; none(): a pop takes what comes
  std::uint32_t bytes = 8;  // of the entry; of a pop that takes what comes, the most
  // Table: the first slot that is tried. By call, or in local memory: the one that it takes,
  // whoever comes first.
  std::uint64_t slot = 0;
  // Its operations in the schedule, on its own rank.
  OpId after;   // done when it begins; none(): it begins with the run
  OpId first;   // its first message
  OpId last;    // when this is done, so is it
  OpId ticket;  // push, pop: what claims a place in the queue
  OpId get;     // find, pop: what fetches the entry
  // By call: what the target does.
  OpId handler_first;  // the poll
  OpId handler_last;   // the reply

  /// Whose home is its own rank: by call it then goes by local memory, without a message.
  bool is_own() const { return rank == target; }
  /// Which of the structures: 0 is the table, a queue goes by its rank.
  std::uint32_t structure() const { return is_of_table(access) ? 0 : target.value; }
  /// The value's first word.
  std::uint64_t entry() const { return entry_of(value); }
};
static_assert(sizeof(StructureOp) == 64);  // a line of the cache

/// An active message: the request, and what its target does, [first, last] of its program.
struct AmHandler {
  OpId request;
  OpId first;
  OpId last;
  std::uint64_t payload_bytes = 0;  // of the request, beside its arguments and its mark
};
/// A mark behind each message says that all of it has arrived.
inline constexpr std::uint64_t kMarkBytes = 8;

constexpr std::uint64_t slot_bytes_of(const StructureOptions& options) {
  return options.entry + (options.level == Promise::kChecksum ? 8 : 0);
}

/// A rank's part of the table, or its queue. Absent buffers are none().
struct StructurePart {
  struct Given {
    std::uint64_t place;
    ValueId value;
    std::uint32_t bytes;
  };
  BufferId flags;    // table: a word a slot
  BufferId entries;  // StructureProgram::slot_bytes() a slot
  BufferId control;  // queue: kQueueWords
  BufferId states;   // by call: a word for each rank that calls, in order: the sum of its tickets
  BufferId landing;  // of the rank as a client: what it reads
  std::vector<Given> given;  // there from the start
};

struct StructureProgram {
  Schedule schedule;
  StructureOptions options;
  bool table = true;
  std::uint32_t in_flight = 1;
  std::uint64_t slots = 0;
  std::vector<StructureOp> ops;      // by rank and index
  std::vector<StructurePart> parts;  // by rank
  std::vector<AmHandler> handlers;   // by target, in program order
  std::uint32_t first_ticket = 0;    // by call: the values of tickets, by target, caller and index

  /// Of a slot: an entry, and behind it the word that tells whether it has arrived, if there is
  /// one.
  std::uint64_t slot_bytes() const { return slot_bytes_of(options); }
  /// From one operation's place in its rank's landing to the next one's: a slot, or a reply.
  std::uint64_t landing_bytes() const {
    return options.via == StructureVia::kAm ? options.entry + kMarkBytes : slot_bytes();
  }
};

}  // namespace slackline::sched
