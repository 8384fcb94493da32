#include "sched/verify/segments.h"

#include <algorithm>

#include "sched/verify/access.h"

namespace slackline::sched {
namespace {

template <class Visit>
void for_each_slice(const Schedule& schedule, Visit&& visit) {
  const auto with_bytes = [&](const Slice& slice) {
    if (slice.bytes != 0) visit(slice);
  };
  for (const Op& op : schedule.ops()) {
    for_each_read(schedule, op, with_bytes);
    for_each_write(schedule, op, with_bytes);
  }
  for (const Fact& fact : schedule.contract().pre) with_bytes(fact.slice);
  for (const Fact& fact : schedule.contract().post) with_bytes(fact.slice);
}

}  // namespace

SegmentTable::SegmentTable(const Schedule& schedule) : first_(schedule.buffers().size() + 1, 0) {
  for_each_slice(schedule, [&](const Slice& slice) { first_[slice.buffer.value + 1] += 2; });
  for (std::size_t b = 1; b < first_.size(); ++b) first_[b] += first_[b - 1];
  bounds_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for_each_slice(schedule, [&](const Slice& slice) {
    std::size_t& place = next[slice.buffer.value];
    const std::uint64_t end = slice.offset + slice.bytes;
    // Blocks mostly follow each other, or are touched again at once.
    const std::size_t low = first_[slice.buffer.value];
    if (place - low >= 2 && bounds_[place - 2] == slice.offset && bounds_[place - 1] == end) return;
    if (place == low || bounds_[place - 1] != slice.offset) bounds_[place++] = slice.offset;
    bounds_[place++] = end;
  });
  std::size_t kept = 0;
  for (std::size_t b = 0; b + 1 < first_.size(); ++b) {
    const auto begin = bounds_.begin() + static_cast<std::ptrdiff_t>(first_[b]);
    const auto end = bounds_.begin() + static_cast<std::ptrdiff_t>(next[b]);
    std::sort(begin, end);
    const auto last = std::unique(begin, end);
    first_[b] = kept;
    std::copy(begin, last, bounds_.begin() + static_cast<std::ptrdiff_t>(kept));
    kept += static_cast<std::size_t>(last - begin);
  }
  first_.back() = kept;
  bounds_.resize(kept);
  bounds_.shrink_to_fit();
}

std::size_t SegmentTable::first_of(const Slice& slice) const {
  const auto begin = bounds_.begin() + static_cast<std::ptrdiff_t>(first_[slice.buffer.value]);
  const auto end = bounds_.begin() + static_cast<std::ptrdiff_t>(first_[slice.buffer.value + 1]);
  return static_cast<std::size_t>(std::lower_bound(begin, end, slice.offset) - bounds_.begin());
}

std::size_t SegmentTable::holding(const Slice& slice) const {
  const auto begin = bounds_.begin() + static_cast<std::ptrdiff_t>(first_[slice.buffer.value]);
  const auto end = bounds_.begin() + static_cast<std::ptrdiff_t>(first_[slice.buffer.value + 1]);
  return static_cast<std::size_t>(std::upper_bound(begin, end, slice.offset) - bounds_.begin()) - 1;
}

}  // namespace slackline::sched
