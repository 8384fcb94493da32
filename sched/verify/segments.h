// Buffers cut at every place where an operation or a fact begins or ends. No access then ever meets
// a part of a segment, so what is known of memory is a flat table, and nothing is cut up later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/schedule.h"
#include "sched/verify/access.h"

namespace slackline::sched {

/// Segments [first, last).
struct SegmentRun {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

class SegmentTable {
 public:
  /// Keeps a reference. Throws Unsupported at 2^32 segments.
  explicit SegmentTable(const Schedule& schedule);

  /// Segments are numbered from 0; some numbers stand for none.
  std::size_t size() const { return bounds_.size(); }
  std::uint64_t begin(std::uint32_t segment) const { return bounds_[segment]; }
  std::uint64_t bytes(std::uint32_t segment) const {
    return bounds_[segment + 1] - bounds_[segment];
  }
  std::uint64_t bytes(SegmentRun run) const { return bounds_[run.last] - bounds_[run.first]; }
  /// The greatest segment in [first, last] that begins at `end` or before.
  std::uint32_t last_until(std::uint64_t end, std::uint32_t first, std::uint32_t last) const;
  /// How many segments the slices of the schedule's table have, each counted on its own.
  std::uint64_t accesses() const;
  /// A segment as a slice.
  Slice slice(std::uint32_t segment) const;

  /// The segments of a slice that is in the schedule's table, is moved by an operation's fixed
  /// offset, or is a fact's.
  SegmentRun run(const Slice& slice) const;
  /// The segment that holds the first byte of a slice within such a one.
  std::uint32_t holding(const Slice& slice) const;

  /// Calls `visit(run)` for what an operation gathers, slice by slice.
  template <class Visit>
  void for_each_read(const Op& op, Visit&& visit) const {
    if (op.arguments != kNoArguments) {
      sched::for_each_read(schedule_, op, [&](const Slice& slice) { visit(run(slice)); });
      return;
    }
    for (std::uint32_t i = 0; i < op.reads.count; ++i) visit(runs_[op.reads.first + i]);
  }

  /// The first slice that an operation gathers, at its place in the schedule's table.
  SegmentRun read_run(const Op& op) const { return runs_[op.reads.first]; }

  /// Calls `visit(run)` for what an operation scatters into, slice by slice; of an atomic only its
  /// local result.
  template <class Visit>
  void for_each_write(const Op& op, Visit&& visit) const {
    if (op.arguments != kNoArguments) {
      sched::for_each_write(schedule_, op, [&](const Slice& slice) { visit(run(slice)); });
      return;
    }
    for (std::uint32_t i = is_atomic(op.kind) ? 1 : 0; i < op.writes.count; ++i) {
      visit(runs_[op.writes.first + i]);
    }
  }

 private:
  const Schedule& schedule_;
  std::vector<std::uint32_t> first_;   // by buffer: its first bound; its last bound ends a segment
  std::vector<std::uint64_t> bounds_;  // ascending within a buffer
  std::vector<SegmentRun> runs_;       // by entry of the schedule's table of slices
};

}  // namespace slackline::sched
