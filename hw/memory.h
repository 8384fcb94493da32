// A rank's own buffers in real memory, and the contract's facts about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sched/schedule.h"

namespace slackline::hw {

/// The byte at `offset` of a value, the same on every machine; never 0, so that memory of which no
/// fact speaks (zeros) is never taken for a value, and a flag is seen by its bytes.
std::byte value_byte(sched::ValueId value, std::uint64_t offset);

/// Where the buffers of each rank stand in that rank's memory. Every rank computes the same, so
/// that one address per rank is all that ranks tell each other.
class MemoryLayout {
 public:
  /// Throws InputError if the buffers of a rank exceed 2^63 bytes together.
  explicit MemoryLayout(const sched::Schedule& schedule);
  std::uint64_t offset(sched::BufferId buffer) const { return offsets_[buffer.value]; }
  /// Bytes of a rank's buffers, with what lies between them; ≥ 1.
  std::uint64_t bytes(sched::RankId rank) const { return bytes_[rank.value]; }

 private:
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> bytes_;
};

struct UnmapPages {
  std::size_t bytes = 0;
  void operator()(std::byte* pages) const;
};

/// The memory of one rank: its buffers, then `extra_bytes` of scratch, in one run of pages.
class RankMemory {
 public:
  /// Throws EnvironmentError if there is not as much memory. The schedule and the layout must
  /// outlive this.
  RankMemory(const sched::Schedule& schedule, const MemoryLayout& layout, sched::RankId rank,
             std::uint64_t extra_bytes);

  /// All of it, scratch included.
  std::span<std::byte> all() { return {pages_.get(), pages_.get_deleter().bytes}; }
  /// The slice must be of this rank's buffers.
  std::span<std::byte> at(const sched::Slice& slice) {
    return {pages_.get() + layout_.offset(slice.buffer) + slice.offset, slice.bytes};
  }
  std::byte* scratch() { return pages_.get() + layout_.bytes(rank_); }

  /// As before the schedule ran: zeros, and the values of the pre facts.
  void fill();

  /// The first byte where a post fact about this rank does not hold, in one line; nothing if all
  /// do.
  std::optional<std::string> first_breach();

 private:
  const sched::Schedule& schedule_;
  const MemoryLayout& layout_;
  sched::RankId rank_;
  std::unique_ptr<std::byte, UnmapPages> pages_;
};

}  // namespace slackline::hw
