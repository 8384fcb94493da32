// Buffers cut at every place where an operation or a fact begins or ends. No access then ever meets
// a part of a segment, so what is known of memory is a flat table, and nothing is cut up later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/schedule.h"

namespace slackline::sched {

class SegmentTable {
 public:
  explicit SegmentTable(const Schedule& schedule);

  /// Segments are numbered from 0; some numbers stand for none.
  std::size_t size() const { return bounds_.size(); }
  std::uint64_t begin(std::size_t segment) const { return bounds_[segment]; }
  std::uint64_t bytes(std::size_t segment) const { return bounds_[segment + 1] - bounds_[segment]; }
  Slice slice(BufferId buffer, std::size_t segment) const {
    return {buffer, begin(segment), bytes(segment)};
  }

  /// The number of the first segment of a slice that some operation or fact has. It has bytes.
  std::size_t first_of(const Slice& slice) const;

  /// The number of the segment that holds the first byte of a slice within a segment's bounds.
  std::size_t holding(const Slice& slice) const;

  /// Calls `visit(segment)` for each segment of such a slice, in order.
  template <class Visit>
  void for_each(const Slice& slice, Visit&& visit) const {
    if (slice.bytes == 0) return;
    const std::uint64_t end = slice.offset + slice.bytes;
    for (std::size_t i = first_of(slice); bounds_[i] < end; ++i) visit(i);
  }

 private:
  std::vector<std::size_t> first_;     // by buffer: its first bound; its last bound ends a segment
  std::vector<std::uint64_t> bounds_;  // ascending within a buffer
};

}  // namespace slackline::sched
