#include "machine/event_order.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace slackline::machine {
namespace {

constexpr std::size_t kFew = 48;

}  // namespace

// What was begun in order mostly ends in order.
void EventOrder::sort(std::vector<ExecutionEvent>& events) {
  if (std::is_sorted(events.begin(), events.end())) return;
  if (events.size() < kFew) {
    std::sort(events.begin(), events.end());
  } else {
    distribute(events);
  }
}

// The many events of one instant are of different ranks, each of which has operations of its own:
// so they are spread evenly over all operations. Hence as many buckets as events, by the highest
// bits in which operations differ, hold one or two each, and sorting takes linear time. Where they
// are not spread like that, some buckets are large, and sorting them takes what it takes.
void EventOrder::distribute(std::vector<ExecutionEvent>& events) {
  const auto [least, most] = std::minmax_element(events.begin(), events.end());
  const std::uint32_t first = least->op().value;
  const std::uint32_t last = most->op().value;
  const int shift = std::max(0, static_cast<int>(std::bit_width(last - first)) -
                                    static_cast<int>(std::bit_width(events.size())));
  const auto bucket = [&](ExecutionEvent event) { return (event.op().value - first) >> shift; };
  end_.assign(((last - first) >> shift) + std::size_t{2}, 0);
  for (const ExecutionEvent event : events) ++end_[bucket(event) + 1];
  for (std::size_t b = 1; b < end_.size(); ++b) end_[b] += end_[b - 1];
  sorted_.resize(events.size());
  for (const ExecutionEvent event : events) sorted_[end_[bucket(event)]++] = event;
  events.swap(sorted_);
  auto begin = events.begin();
  for (std::size_t b = 0; b + 1 < end_.size(); ++b) {
    const auto end = events.begin() + end_[b];
    if (end - begin > 1) std::sort(begin, end);
    begin = end;
  }
}

}  // namespace slackline::machine
