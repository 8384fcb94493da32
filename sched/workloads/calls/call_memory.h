// Where a series of remote invocations stands in memory, and what its contract says.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/program_writer.h"
#include "sched/workloads/calls/call_chunks.h"

namespace slackline::sched {

inline constexpr std::uint64_t kCallWord = 8;  // an identifier, a mark, an offset, a handle

/// What goes with a function: `bytes` in its record, or in a buffer of their own that is written or
/// read; or in its record, with a result of as many bytes coming back.
enum class Carries : std::uint8_t { kInRecord, kWritten, kRead, kReturned };

struct CallShape {
  Carries carries = Carries::kInRecord;
  bool tree = false;  // along a binomial tree, or from the root to each
};

/// A rank: its place in the tree, its memory, its channels from and to its parent; and its
/// operations, which sched/workloads/calls/call.cc adds.
struct CallNode {
  RankId rank;
  std::uint32_t parent = 0;
  std::vector<std::uint32_t> children;
  BufferId records;   // at the root the calls themselves, elsewhere where they arrive
  BufferId captured;  // at the root: what it copies into records, if it does
  BufferId buffers;   // what is written or read beside the records
  BufferId state;
  BufferId results;   // on their way back; at the root where they arrive, of all callees
  BufferId mark;      // a word that is never zero
  ChannelId calls;    // from the parent
  ChannelId writes;   // from the parent, of buffers; `calls` itself if records are not aggregated
  ChannelId back;     // to the parent
  ChannelId sync;     // to the root
  ChannelId answers;  // to the parent: of the service thread
  ChannelId asks;     // from the parent: to the service thread
  BufferId consumed;  // at the parent: words of consumed offsets
  BufferId handles;   // at the parent: of chunks
  BufferId asked;     // here: words of service calls
  BufferId words;     // at the root: notifications or results
  // Its operations, as its program is written. At the parent:
  std::vector<OpId> posts;  // on `calls`
  std::vector<OpId> sent;   // the calls among them
  std::vector<OpId> offsets_seen;
  // Here:
  std::vector<OpId> arrivals;
  std::vector<OpId> offsets;                   // written back
  std::vector<std::vector<OpId>> consumed_by;  // of every call: who reads its record
  std::vector<OpId> told;                      // notifications, or results
  std::vector<OpId> seen;                      // their polls, at the root
  OpId last;                                   // of the handler before
};

/// Adds the buffers and channels of all ranks, and the facts, to `out`, which must outlive it. The
/// values: the records of the calls, then their buffers, then the mark.
class CallMemory {
 public:
  CallMemory(const Spec& spec, CallShape shape, ProgramWriter& out);

  /// The root, then the others; parents before their children.
  std::vector<CallNode>& nodes() { return nodes_; }
  const CallShape& shape() const { return shape_; }
  const CallChunks& chunks() const { return chunks_; }
  bool one_sided() const { return one_sided_; }
  /// Targets write a word for every call that they have run.
  bool notifies() const { return notifies_; }
  std::uint32_t calls() const { return spec_.messages; }
  std::uint64_t record_bytes() const { return record_; }
  /// Of a record, from its beginning: what its function reads, and its rank's state has.
  std::uint64_t read_bytes() const { return read_; }
  bool is_root(const CallNode& node) const { return &node == &nodes_.front(); }
  bool runs_calls(const CallNode& node) const { return shape_.tree || !is_root(node); }

  /// Of call m: its record, at the root or where it lands, without its mark; the same where it
  /// lands, with the mark behind it; its buffer; its result where it lands, with the mark behind
  /// it.
  Slice record(const CallNode& node, std::uint32_t m) const;
  Slice landed_record(const CallNode& node, std::uint32_t m) const;
  /// At the root, where it copies its records: what record m is copied from.
  Slice captured(const CallNode& root, std::uint32_t m) const {
    return {root.captured, m * record_, record_};
  }
  Slice buffer(const CallNode& node, std::uint32_t m) const;
  Slice landed_result(const CallNode& node, std::uint32_t m) const;
  static Slice word(BufferId buffer, std::uint32_t i) { return {buffer, i * kCallWord, kCallWord}; }
  static Slice mark_of(const CallNode& node) { return word(node.mark, 0); }

 private:
  RankId rank_of(std::uint32_t index) const;
  void add_node(std::uint32_t i);
  void add_channels(CallNode& node);
  void add_facts();

  const Spec& spec_;
  const std::uint64_t bytes_;
  const RankId root_;
  const CallOptions& options_;
  const CallShape shape_;
  const bool one_sided_;
  const bool in_record_;
  const std::uint64_t record_;  // bytes
  const std::uint64_t read_;    // bytes of it
  const std::uint64_t stride_;  // of records where they land
  const CallChunks chunks_;
  const bool notifies_;
  ProgramWriter& out_;
  std::vector<CallNode> nodes_;
};

}  // namespace slackline::sched
