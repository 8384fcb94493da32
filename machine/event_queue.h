// The events of a run that are still to come, by time.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "machine/heap.h"
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
    kAcknowledged,  // its message is where it goes, and the NIC there says so
    kDone,
    kEnter,      // a region, named by its node, begins an attempt
    kCompleted,  // its completion is there, and waits to be seen
    kSeen,       // its lane has seen a batch of completions, of which its own is the first
    kAtPair,     // its post asks for the lock of its queue pair
  };
  ExecutionEvent() = default;
  ExecutionEvent(sched::OpId op, Kind kind)
      : bits_(std::uint64_t{op.value} << 8 | static_cast<std::uint64_t>(kind)) {}
  sched::OpId op() const { return sched::OpId(static_cast<std::uint32_t>(bits_ >> 8)); }
  Kind kind() const { return static_cast<Kind>(bits_ & 0xff); }
  /// It happens on the operation's own rank, not in its NIC, the network or at the other end.
  bool is_local() const {
    return kind() <= Kind::kBundleDue || kind() == Kind::kDone || kind() > Kind::kEnter;
  }
  friend auto operator<=>(ExecutionEvent, ExecutionEvent) = default;

 private:
  std::uint64_t bits_ = 0;  // one word, since events are sorted by the million
};

/// A priority queue that keeps events of the same time together: in a pipeline most are.
class EventQueue {
 public:
  void push(double time_s, ExecutionEvent event) {
    const Recent recent = recent_[slot(time_s)];
    if (recent.time_s != time_s) return open(time_s, event);
    std::vector<ExecutionEvent>& others = buckets_[recent.bucket].others;
    if (others.size() == others.capacity()) return grow(others, event);
    others.push_back(event);
  }

  bool empty() const { return heap_.empty(); }
  /// The earliest time; the queue must not be empty.
  double next_s() const { return heap_.top().time_s; }

  /// Calls visit(time_s, event) for each, in no order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const Entry& entry : heap_.items()) {
      const Bucket& bucket = buckets_[entry.bucket];
      visit(bucket.time_s, bucket.first);
      for (const ExecutionEvent event : bucket.others) visit(bucket.time_s, event);
    }
  }

  /// Moves the events of the next instant into `events`, unsorted, and returns its time, that of
  /// its earliest event.
  double pop_instant(std::vector<ExecutionEvent>& events) {
    const double now_s = next_s();
    pop_instant(now_s, events);
    return now_s;
  }
  /// The same of the instant that begins at `now_s`, not after next_s(): none if that is later.
  void pop_instant(double now_s, std::vector<ExecutionEvent>& events) {
    events.clear();
    // After some hours a double has no picoseconds; then an instant is one time.
    const auto is_now = [&](double time_s) {
      return time_s == now_s || time_s < now_s + kInstant_s;
    };
    while (!heap_.empty() && is_now(heap_.top().time_s)) {
      const std::uint32_t index = heap_.pop().bucket;
      Bucket& bucket = buckets_[index];
      if (!bucket.others.empty()) {
        if (events.empty()) events.swap(bucket.others);
        events.insert(events.end(), bucket.others.begin(), bucket.others.end());
        bucket.others.clear();
      }
      events.push_back(bucket.first);
      Recent& recent = recent_[slot(bucket.time_s)];
      if (recent.bucket == index) recent.time_s = kNone_s;
      free_.push_back(index);
    }
  }

 private:
  // Irregular events are alone in theirs, and then need no memory of its own.
  struct Bucket {
    double time_s = 0;
    ExecutionEvent first;
    std::vector<ExecutionEvent> others;
  };
  struct Recent {
    double time_s = kNone_s;
    std::uint32_t bucket = 0;
  };
  struct Entry {
    double time_s;
    std::uint32_t bucket;
  };
  struct Earlier {
    bool operator()(const Entry& a, const Entry& b) const { return a.time_s < b.time_s; }
  };
  static constexpr std::size_t kRecent = 256;
  static constexpr double kNone_s = std::numeric_limits<double>::quiet_NaN();

  static std::size_t slot(double time_s) {
    return static_cast<std::size_t>(std::bit_cast<std::uint64_t>(time_s) * 0x9e3779b97f4a7c15ull >>
                                    56);
  }

  // Neither is inlined, so that what push() mostly does saves no registers.
  [[gnu::noinline]] static void grow(std::vector<ExecutionEvent>& others, ExecutionEvent event) {
    others.push_back(event);
  }
  [[gnu::noinline]] void open(double time_s, ExecutionEvent event) {
    std::uint32_t index;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(buckets_.size());
      buckets_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Bucket& bucket = buckets_[index];
    bucket.time_s = time_s;
    bucket.first = event;
    heap_.push({time_s, index});
    recent_[slot(time_s)] = {time_s, index};
  }

  Heap<Entry, Earlier> heap_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> free_;
  std::array<Recent, kRecent> recent_;  // by a hash of the time, where it may be found
};

}  // namespace slackline::machine
