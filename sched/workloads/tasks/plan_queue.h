// What is to happen when in a planning run: by time, and at one time in the order in which it was
// planned.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/slots.h"

namespace slackline::sched {

/// Most of what is planned comes within some microseconds: it waits, in no order, in the slot of
/// its time. Only what comes in the slot that it is time for is kept in order.
template <class Event>
class PlanQueue {
 public:
  using When = std::int64_t;  // picoseconds

  /// Not before the event that was taken last.
  void push(When at, const Event& event) {
    ++count_;
    const Entry entry{at, pushed_++, event, kNone};
    const std::int64_t slot = slot_of(at);
    if (slot <= slot_now_) return insert(near_, entry);
    if (slot - slot_now_ >= kSlots) return insert(far_, entry);
    const auto place = static_cast<std::size_t>(slot % kSlots);
    const std::uint32_t held = base::take_slot(held_, free_);
    held_[held] = entry;
    std::uint64_t& used = used_[place / 64];
    const std::uint64_t bit = std::uint64_t{1} << place % 64;
    held_[held].next = (used & bit) != 0 ? first_[place] : kNone;
    first_[place] = held;
    used |= bit;
  }
  bool empty() const { return count_ == 0; }
  /// When the event was that was taken last; 0 at first.
  When now() const { return now_; }

  /// Takes the next one out. There is one.
  Event pop() {
    if (near_.empty()) move_on();
    --count_;
    const Entry next = take(near_);
    now_ = next.at;
    return next.event;
  }

 private:
  static constexpr int kSlotBits = 12;  // of a time: a slot is 4 ns
  static constexpr std::int64_t kSlots = 1024;
  static constexpr std::uint32_t kNone = 0xffffffffu;

  struct Entry {
    When at;
    std::uint64_t number;
    Event event;
    std::uint32_t next;                         // in its slot
    bool operator<(const Entry& other) const {  // comes later: the heaps' top comes first
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  static std::int64_t slot_of(When at) { return at >> kSlotBits; }
  static void insert(std::vector<Entry>& heap, const Entry& entry) {
    heap.push_back(entry);
    std::push_heap(heap.begin(), heap.end());
  }
  static Entry take(std::vector<Entry>& heap) {
    std::pop_heap(heap.begin(), heap.end());
    const Entry entry = heap.back();
    heap.pop_back();
    return entry;
  }

  // To the next slot that has something.
  void move_on() {
    const std::int64_t in_slots = next_slot();
    const bool has_far = !far_.empty() && (in_slots < 0 || slot_of(far_.front().at) <= in_slots);
    slot_now_ = has_far ? slot_of(far_.front().at) : in_slots;
    if (in_slots == slot_now_) {
      const auto place = static_cast<std::size_t>(slot_now_ % kSlots);
      for (std::uint32_t held = first_[place]; held != kNone; held = held_[held].next) {
        near_.push_back(held_[held]);
        free_.push_back(held);
      }
      used_[place / 64] &= ~(std::uint64_t{1} << place % 64);
      std::make_heap(near_.begin(), near_.end());
    }
    while (!far_.empty() && slot_of(far_.front().at) <= slot_now_) insert(near_, take(far_));
  }
  // The first behind this one's that has something; -1: none has.
  std::int64_t next_slot() const {
    const auto first = static_cast<std::size_t>((slot_now_ + 1) % kSlots);
    std::uint64_t word = used_[first / 64] & ~std::uint64_t{0} << first % 64;
    for (std::size_t step = 0; step <= used_.size(); ++step) {
      const std::size_t at = (first / 64 + step) % used_.size();
      if (step != 0) word = used_[at];
      if (word == 0) continue;
      const auto place = static_cast<std::int64_t>(at * 64) + std::countr_zero(word);
      const std::int64_t ahead = (place - static_cast<std::int64_t>(first) + kSlots) % kSlots;
      return slot_now_ + 1 + ahead;
    }
    return -1;
  }

  std::vector<Entry> near_;  // a heap: of this slot
  std::vector<Entry> far_;   // a heap: beyond all slots when it was planned
  std::vector<Entry> held_;  // in slots
  std::vector<std::uint32_t> free_;
  std::array<std::uint32_t, kSlots> first_;        // held in a slot, by slot modulo their number
  std::array<std::uint64_t, kSlots / 64> used_{};  // a bit for each that has something
  std::int64_t slot_now_ = 0;
  std::size_t count_ = 0;
  std::uint64_t pushed_ = 0;
  When now_ = 0;
};

}  // namespace slackline::sched
