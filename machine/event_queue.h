// The events of a run that are still to come, by time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/ids.h"

namespace slackline::machine {

/// Events less than this apart are one instant, ordered by op id.
inline constexpr double kInstant_s = 1e-12;

/// Something that ends for one operation. Ordered by operation, then kind.
class ExecutionEvent {
 public:
  enum class Kind : std::uint8_t {
    kHeldBack,      // the delay plan lets the operation go
    kIssue,         // an operation without a lane is issued
    kLaneEnd,       // its lane has finished with it
    kBundlePosted,  // its lane has posted the bundle that it is the oldest of
    kBundleDue,     // that bundle has waited long enough
    kOutFree,       // the NIC may send the next message
    kLargeOutFree,  // the same, after a large one
    kReplyOutFree,  // the same, after the answer to a get or an atomic
    kSent,          // its message has left the wire
    kLost,          // its way was cut before its message had left
    kArrived,       // its request is at the target, whose NIC has read what it asks for
    kServed,        // the target has carried out the atomic
    kDone,
    kEnter,  // a region, named by its node, begins an attempt
  };
  ExecutionEvent() = default;
  ExecutionEvent(sched::OpId op, Kind kind)
      : bits_(std::uint64_t{op.value} << 8 | static_cast<std::uint64_t>(kind)) {}
  sched::OpId op() const { return sched::OpId(static_cast<std::uint32_t>(bits_ >> 8)); }
  Kind kind() const { return static_cast<Kind>(bits_ & 0xff); }
  /// It happens on the operation's own rank, not in its NIC, the network or at the other end.
  bool is_local() const { return kind() <= Kind::kBundleDue || kind() == Kind::kDone; }
  friend auto operator<=>(ExecutionEvent, ExecutionEvent) = default;

 private:
  std::uint64_t bits_ = 0;  // one word, since events are sorted by the million
};

/// A priority queue that keeps events of the same time together: in a pipeline most are.
class EventQueue {
 public:
  void push(double time_s, ExecutionEvent event) {
    std::uint32_t& recent = recent_[slot(time_s)];
    if (recent >= buckets_.size() || buckets_[recent].time_s != time_s ||
        buckets_[recent].events.empty()) {
      recent = open(time_s);
    }
    buckets_[recent].events.push_back(event);
  }

  bool empty() const { return heap_.empty(); }
  /// The earliest time; the queue must not be empty.
  double next_s() const { return heap_.front().time_s; }

  /// Moves the events of the next instant into `events`, unsorted, and returns its time, that of
  /// its earliest event.
  double pop_instant(std::vector<ExecutionEvent>& events) {
    events.clear();
    const double now_s = next_s();
    // After some hours a double has no picoseconds; then an instant is one time.
    const auto is_now = [&](double time_s) {
      return time_s == now_s || time_s < now_s + kInstant_s;
    };
    while (!heap_.empty() && is_now(heap_.front().time_s)) {
      const std::uint32_t bucket = heap_.front().bucket;
      std::vector<ExecutionEvent>& from = buckets_[bucket].events;
      if (events.empty()) {
        events.swap(from);
      } else {
        events.insert(events.end(), from.begin(), from.end());
        from.clear();
      }
      free_.push_back(bucket);
      std::pop_heap(heap_.begin(), heap_.end(), later);
      heap_.pop_back();
    }
    return now_s;
  }

 private:
  struct Bucket {
    double time_s = 0;
    std::vector<ExecutionEvent> events;
  };
  struct Entry {
    double time_s;
    std::uint32_t bucket;
  };
  static constexpr std::size_t kRecent = 256;

  static bool later(const Entry& a, const Entry& b) { return a.time_s > b.time_s; }
  static std::size_t slot(double time_s) {
    return static_cast<std::size_t>(std::bit_cast<std::uint64_t>(time_s) * 0x9e3779b97f4a7c15ull >>
                                    56);
  }

  std::uint32_t open(double time_s) {
    std::uint32_t bucket;
    if (free_.empty()) {
      bucket = static_cast<std::uint32_t>(buckets_.size());
      buckets_.emplace_back();
    } else {
      bucket = free_.back();
      free_.pop_back();
    }
    buckets_[bucket].time_s = time_s;
    heap_.push_back({time_s, bucket});
    std::push_heap(heap_.begin(), heap_.end(), later);
    return bucket;
  }

  std::vector<Entry> heap_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> free_;
  std::array<std::uint32_t, kRecent> recent_{};  // by a hash of the time, where it may be found
};

}  // namespace slackline::machine
