// Neighbouring segments of which the same is known, kept as one. A write over many segments then
// costs the intervals that it ends, and each of these was begun by one access only.
#pragma once

#include <cstdint>
#include <optional>

#include "sched/verify/bit_index.h"
#include "sched/verify/segments.h"

namespace slackline::sched {

class Intervals {
 public:
  /// At first each segment is an interval; if `joins` is false, it stays so, at no cost.
  Intervals(const SegmentTable& segments, bool joins) {
    if (joins) starts_.emplace(static_cast<std::uint32_t>(segments.size()), true);
  }

  bool joins() const { return starts_.has_value(); }
  bool starts_at(std::uint32_t segment) const { return !starts_ || starts_->contains(segment); }
  /// The first segment of the interval that holds one, and the one behind its last.
  std::uint32_t begin_of(std::uint32_t segment) const {
    return starts_ ? starts_->last(segment) : segment;
  }
  std::uint32_t end_of(std::uint32_t segment) const {
    return starts_ ? starts_->next(segment + 1) : segment + 1;
  }

  /// An interval begins at a segment from now on.
  void cut(std::uint32_t segment) {
    if (starts_) starts_->insert(segment);
  }
  /// A run becomes one interval. It begins and ends where intervals do.
  void join(SegmentRun run) {
    if (!starts_) return;
    for (std::uint32_t s = end_of(run.first); s < run.last; s = end_of(s)) starts_->erase(s);
  }

  /// Calls visit(first, last, begin) for each interval's part [first, last) within a run; the
  /// interval begins at `begin`.
  template <class Visit>
  void for_each(SegmentRun run, Visit&& visit) const {
    if (run.first == run.last) return;
    std::uint32_t begin = begin_of(run.first);
    for (std::uint32_t first = run.first; first < run.last;) {
      const std::uint32_t end = end_of(first);
      const std::uint32_t last = end < run.last ? end : run.last;
      visit(first, last, begin);
      first = last;
      begin = last;
    }
  }

 private:
  std::optional<BitIndex> starts_;
};

}  // namespace slackline::sched
