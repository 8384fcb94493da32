#include "machine/event_order.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace slackline::machine {
namespace {

constexpr std::size_t kFew = 48;

// Of what has nearly its places: at most kFew further on.
void insertion_sort(std::vector<ExecutionEvent>& events) {
  for (std::size_t i = 1; i < events.size(); ++i) {
    const ExecutionEvent event = events[i];
    std::size_t to = i;
    for (; to != 0 && event < events[to - 1]; --to) events[to] = events[to - 1];
    events[to] = event;
  }
}

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
// bits in which operations differ, hold one or two each, and sorting takes linear time: all that is
// left to do is to exchange neighbours. Where events are not spread like that, some buckets are
// large, and sorting them takes what it takes.
void EventOrder::distribute(std::vector<ExecutionEvent>& events) {
  std::uint32_t first = events.front().op().value;
  std::uint32_t last = first;
  for (const ExecutionEvent event : events) {
    first = std::min(first, event.op().value);
    last = std::max(last, event.op().value);
  }
  const int shift = std::max(0, static_cast<int>(std::bit_width(last - first)) -
                                    static_cast<int>(std::bit_width(events.size())));
  const auto bucket = [=](ExecutionEvent event) { return (event.op().value - first) >> shift; };
  next_.assign(((last - first) >> shift) + std::size_t{1}, 0);
  for (const ExecutionEvent event : events) ++next_[bucket(event)];
  std::uint32_t before = 0;
  std::uint32_t most = 0;
  for (std::uint32_t& place : next_) {
    const std::uint32_t count = std::exchange(place, before);
    before += count;
    most = std::max(most, count);
  }
  sorted_.resize(events.size());
  for (const ExecutionEvent event : events) sorted_[next_[bucket(event)]++] = event;
  events.swap(sorted_);
  if (most >= kFew) sort_large_buckets(events);
  insertion_sort(events);
}

// Once they are filled, where the next event of a bucket would go is where the bucket ends.
void EventOrder::sort_large_buckets(std::vector<ExecutionEvent>& events) const {
  auto begin = events.begin();
  for (const std::uint32_t place : next_) {
    const auto end = events.begin() + place;
    if (end - begin >= static_cast<std::ptrdiff_t>(kFew)) std::sort(begin, end);
    begin = end;
  }
}

}  // namespace slackline::machine
