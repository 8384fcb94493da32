// Writes the programs of a data-structure pattern: what tables and queues have in common.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sched/dissemination.h"
#include "sched/program_writer.h"
#include "sched/workloads/structures/structure_workload.h"

namespace slackline::sched {

/// The pattern says what an operation is made of; this keeps them apart in time, carries calls, and
/// puts the barrier between phases.
class StructureWriter {
 public:
  StructureWriter(const Spec& spec, StructureWorkload workload, bool table);
  virtual ~StructureWriter() = default;

  StructureProgram run();

 protected:
  /// The buffers of a rank's part.
  virtual void add_part(RankId rank, StructurePart& part) = 0;
  /// One-sided or local: adds its operations, which begin once op.after is done, and fills in
  /// first, last, ticket and get.
  virtual void operate(StructureOp& op) = 0;
  /// By call or locally: where the entry stands at its target.
  Slice entry_slice(const StructureOp& op) const;

  bool by_call() const { return options_.via == StructureVia::kAm; }
  bool writes() const { return options_.work != StructureWork::kRead; }
  bool reads() const { return options_.work != StructureWork::kWrite; }
  std::uint64_t slots() const { return out_.slots; }
  const StructurePart& part(RankId rank) const { return out_.parts[rank.value]; }
  ProgramWriter& writer() { return writer_; }

  BufferId words(RankId rank, std::uint64_t count) { return writer_.add_buffer(rank, 8 * count); }
  /// Of an entry, at the most; of a slot, which a word that tells of its arrival may belong to.
  std::uint64_t entry_bytes() const { return options_.entry; }
  std::uint64_t slot_bytes() const { return out_.slot_bytes(); }
  /// What a one-sided write brings: the entry, and with it the word that tells of its arrival.
  std::uint64_t written_bytes(const StructureOp& op) const {
    return op.level == Promise::kChecksum ? slot_bytes() : op.bytes;
  }
  /// What a client writes or asks; what it reads.
  Slice source(const StructureOp& op, std::uint64_t bytes) const;
  Slice landing(const StructureOp& op, std::uint64_t bytes) const;

  /// Where the client's operations stand.
  static OpPlace place_of(const StructureOp& op) { return {op.rank, op.index}; }
  OpId add_atomic(OpKind kind, const StructureOp& op, const Slice& word,
                  const OpArguments& arguments, OpId after);
  OpId add_put(const StructureOp& op, const Slice& to, const OpArguments& arguments, OpId after);
  OpId add_get(const StructureOp& op, const Slice& from, const Slice& to,
               const OpArguments& arguments, OpId after);
  void add_retry(OpId entry, std::uint32_t count, std::uint64_t attempts);

 private:
  struct Sender {              // of calls to one rank, and what that rank knows of them
    std::uint32_t number = 0;  // among its callers
    std::uint32_t calls = 0;
    std::uint32_t handled = 0;
    ValueId ticket;  // of the first call; the others follow
    OpId last;       // what the handler before did last
  };
  struct SharedSlice {  // that several operations name
    Slice slice;
    SliceRange at;
  };
  static constexpr std::size_t kSharedSlices = 8;  // of a target
  // The number of a channel beside those of requests.
  static constexpr std::uint32_t kReplies = 0xffffffffu;

  ChannelId channel_of(const StructureOp& op);
  SliceRange at_target(const StructureOp& op, const Slice& slice);
  void reserve();
  void add_memory();
  void find_senders();
  void add_handlers(RankId rank);
  void add_handler(StructureOp& op, std::uint64_t mail);
  void begin(StructureOp& op);
  void call(StructureOp& op);
  void operate_at_home(StructureOp& op);
  void add_program(RankId rank);
  void add_facts();
  Slice reply_of(const StructureOp& op) const;
  // What a request says of the entry: all of it, or its first word, or nothing; and the ticket.
  std::uint64_t told_bytes(const StructureOp& op) const {
    if (op.access == StructureAccess::kPop) return 0;
    return is_write(op.access) ? op.bytes : 8;
  }
  std::uint64_t argument_bytes(const StructureOp& op) const { return told_bytes(op) + 8; }
  std::uint64_t mail_bytes() const { return entry_bytes() + 8 + kMarkBytes; }
  // By call: in the record, the entry ends where the ticket begins.
  Slice told(const StructureOp& op, std::uint64_t bytes) const {
    return {sources_[op.rank.value], record_ * op.index + (entry_bytes() - bytes), bytes};
  }
  Slice mark(RankId rank) const { return {marks_[rank.value], 0, kMarkBytes}; }

  const Spec& spec_;
  const StructureOptions& options_;
  ProgramWriter writer_;
  StructureProgram out_;
  const std::uint32_t first_value_;
  const bool two_phases_;
  MessageBarrier barrier_;                               // between them
  std::uint64_t record_ = 8;                             // of a client's source
  std::vector<std::uint32_t> first_of_;                  // by rank: its operations in out_.ops
  std::vector<std::vector<std::uint32_t>> incoming_;     // by rank: calls to it
  std::map<std::pair<RankId, RankId>, Sender> senders_;  // by target, caller
  std::vector<SharedSlice> at_targets_;                  // by target, some places each
  std::vector<BufferId> sources_;
  std::vector<BufferId> marks_;
  std::vector<BufferId> mails_;
};

}  // namespace slackline::sched
