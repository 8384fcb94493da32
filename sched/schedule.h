// The schedule: an immutable dataflow graph of operations over ranks. Made only by ScheduleBuilder.
// Its semantics stand on top of sched/op.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sched/argument_table.h"
#include "sched/digest.h"
#include "sched/op.h"

namespace slackline::sched {

/// The facts that hold before (`pre`) and must hold after (`post`) the schedule ran.
struct Contract {
  std::vector<Fact> pre;
  std::vector<Fact> post;
};

class Schedule {
 public:
  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(rank_begin_.size() - 1); }
  std::uint32_t op_count() const { return static_cast<std::uint32_t>(ops_.size()); }

  /// All operations, grouped by rank in program order.
  std::span<const Op> ops() const { return ops_; }
  const Op& op(OpId id) const { return ops_[id.value]; }
  /// The ids of a rank's operations are [first_op(r), first_op(r + 1)).
  OpId first_op(RankId rank) const { return OpId(rank_begin_[rank.value]); }
  OpId end_op(RankId rank) const { return OpId(rank_begin_[rank.value + 1]); }

  std::span<const Buffer> buffers() const { return buffers_; }
  std::span<const Slice> slices() const { return slices_; }
  std::span<const Slice> slices(SliceRange range) const {
    return std::span(slices_).subspan(range.first, range.count);
  }
  std::span<const Channel> channels() const { return channels_; }
  const Channel& channel(ChannelId id) const { return channels_[id.value]; }
  std::span<const Region> regions() const { return regions_; }
  const Contract& contract() const { return contract_; }

  /// All edges, sorted by (succ, pred, on), none twice.
  std::span<const Edge> edges() const { return edges_; }
  /// The edges that end in `op`.
  std::span<const Edge> edges_into(OpId op) const {
    return std::span(edges_).subspan(edge_begin_[op.value],
                                     edge_begin_[op.value + 1] - edge_begin_[op.value]);
  }

  /// The rare arguments of an operation; all absent if it has none.
  OpArguments arguments(const Op& op) const {
    return op.arguments == kNoArguments ? OpArguments() : argument_table()[op.arguments];
  }
  ArgumentTable argument_table() const { return ArgumentTable(argument_cells_); }

  /// The bytes a range of slices holds together.
  std::uint64_t bytes(SliceRange range) const {
    std::uint64_t total = 0;
    for (const Slice& slice : slices(range)) total += slice.bytes;
    return total;
  }
  /// The bytes that the operation moves over the network, copies or combines: what it reads, or
  /// what it writes if it reads nothing; 8 for an atomic.
  std::uint64_t payload_bytes(const Op& op) const {
    if (is_atomic(op.kind)) return 8;
    return op.reads.count != 0 ? bytes(op.reads) : bytes(op.writes);
  }
  /// The size of the message that the pattern carries; 0 where that has no meaning.
  std::uint64_t message_bytes() const { return message_bytes_; }
  /// By channel, whether it carries control (credits, barriers) rather than data.
  std::vector<bool> control_channels() const;
  /// One more than the highest step; 0 without operations.
  std::uint32_t step_count() const { return step_count_; }

  /// The spec or file it was made from. For people; not part of the digest.
  const std::string& title() const { return title_; }

  Digest digest() const { return digest_; }

  /// Whether an operation is on a channel that gathers messages into bundles; the first of them.
  bool has_bundles() const { return first_bundled().valid(); }
  OpId first_bundled() const;

  /// Static: no regions, no bundles. Otherwise the reason, naming the operation.
  bool is_static() const { return !dynamic_reason().has_value(); }
  std::optional<std::string> dynamic_reason() const;

  /// Heap bytes that this value holds.
  std::size_t heap_bytes() const;

 private:
  friend class ScheduleBuilder;
  Schedule() = default;

  std::vector<Op> ops_;
  std::vector<std::uint32_t> rank_begin_;
  std::vector<Buffer> buffers_;
  std::vector<Slice> slices_;
  std::vector<Channel> channels_;
  std::vector<Region> regions_;
  std::vector<std::uint32_t> argument_cells_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> edge_begin_;
  Contract contract_;
  std::uint64_t message_bytes_ = 0;
  std::uint32_t step_count_ = 0;
  std::string title_;
  Digest digest_;
};

/// Throws Unsupported, naming `consumer` and the operation, unless the schedule is static.
void require_static(const Schedule& schedule, std::string_view consumer);

/// How an operation is named to people: "op 17 (send, rank 3)".
std::string describe(const Schedule& schedule, OpId op);

}  // namespace slackline::sched
