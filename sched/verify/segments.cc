#include "sched/verify/segments.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace slackline::sched {
namespace {

template <class Visit>
void for_each_slice(const Schedule& schedule, Visit&& visit) {
  const auto with_bytes = [&](const Slice& slice) {
    if (slice.bytes != 0) visit(slice);
  };
  for (const Slice& slice : schedule.slices()) with_bytes(slice);
  for (const Fact& fact : schedule.contract().pre) with_bytes(fact.slice);
  for (const Fact& fact : schedule.contract().post) with_bytes(fact.slice);
  if (schedule.argument_table().empty()) return;
  for (const Op& op : schedule.ops()) {
    if (op.arguments == kNoArguments) continue;
    for_each_read(schedule, op, with_bytes);
    for_each_write(schedule, op, with_bytes);
  }
}

}  // namespace

SegmentTable::SegmentTable(const Schedule& schedule) : schedule_(schedule) {
  const std::size_t buffers = schedule.buffers().size();
  std::vector<std::size_t> begin(buffers + 1, 0);
  for_each_slice(schedule, [&](const Slice& slice) { begin[slice.buffer.value + 1] += 2; });
  for (std::size_t b = 0; b < buffers; ++b) begin[b + 1] += begin[b];
  if (begin.back() > std::numeric_limits<std::uint32_t>::max()) {
    throw Unsupported("the verifier takes schedules of fewer than 2^31 slices only");
  }
  bounds_.resize(begin.back());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for_each_slice(schedule, [&](const Slice& slice) {
    std::size_t& place = next[slice.buffer.value];
    // Blocks mostly follow each other.
    if (place == begin[slice.buffer.value] || bounds_[place - 1] != slice.offset) {
      bounds_[place++] = slice.offset;
    }
    bounds_[place++] = slice.offset + slice.bytes;
  });
  std::size_t kept = 0;
  first_.reserve(buffers + 1);
  for (std::size_t b = 0; b < buffers; ++b) {
    const auto from = bounds_.begin() + static_cast<std::ptrdiff_t>(begin[b]);
    const auto to = bounds_.begin() + static_cast<std::ptrdiff_t>(next[b]);
    if (!std::is_sorted(from, to)) std::sort(from, to);
    const auto last = std::unique(from, to);
    first_.push_back(static_cast<std::uint32_t>(kept));
    std::copy(from, last, bounds_.begin() + static_cast<std::ptrdiff_t>(kept));
    kept += static_cast<std::size_t>(last - from);
  }
  first_.push_back(static_cast<std::uint32_t>(kept));
  bounds_.resize(kept);
  bounds_.shrink_to_fit();
  runs_.reserve(schedule.slices().size());
  for (const Slice& slice : schedule.slices()) {
    // A neighbour of the slice before, as blocks mostly are, begins where that one ends.
    const std::uint32_t guess = runs_.empty() ? 0 : runs_.back().last;
    const bool right = slice.bytes != 0 && guess >= first_[slice.buffer.value] &&
                       guess + 1 < first_[slice.buffer.value + 1] &&
                       bounds_[guess] == slice.offset &&
                       bounds_[guess + 1] == slice.offset + slice.bytes;
    runs_.push_back(right ? SegmentRun{guess, guess + 1} : run(slice));
  }
}

std::uint64_t SegmentTable::accesses() const {
  std::uint64_t count = 0;
  for (const SegmentRun& run : runs_) count += run.last - run.first;
  return count;
}

std::uint32_t SegmentTable::last_until(std::uint64_t end, std::uint32_t first,
                                       std::uint32_t last) const {
  const auto begin = bounds_.begin();
  const auto after = std::upper_bound(begin + first + 1, begin + last + 1, end);
  return static_cast<std::uint32_t>(after - begin - 1);
}

Slice SegmentTable::slice(std::uint32_t segment) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), segment);
  const auto buffer = static_cast<std::uint32_t>(after - first_.begin() - 1);
  return {BufferId(buffer), begin(segment), bytes(segment)};
}

SegmentRun SegmentTable::run(const Slice& slice) const {
  if (slice.bytes == 0) return {};
  const auto begin = bounds_.begin() + first_[slice.buffer.value];
  const auto end = bounds_.begin() + first_[slice.buffer.value + 1];
  const auto first = std::lower_bound(begin, end, slice.offset);
  const std::uint64_t stop = slice.offset + slice.bytes;
  // Most slices are one segment.
  const auto last = *(first + 1) == stop ? first + 1 : std::lower_bound(first + 1, end, stop);
  return {static_cast<std::uint32_t>(first - bounds_.begin()),
          static_cast<std::uint32_t>(last - bounds_.begin())};
}

std::uint32_t SegmentTable::holding(const Slice& slice) const {
  const auto begin = bounds_.begin() + first_[slice.buffer.value];
  const auto end = bounds_.begin() + first_[slice.buffer.value + 1];
  const auto after = std::upper_bound(begin, end, slice.offset);
  return static_cast<std::uint32_t>(after - bounds_.begin() - 1);
}

}  // namespace slackline::sched
