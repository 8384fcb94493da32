// Who waits for which word: atomics on one address are served one at a time, in the order of their
// arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/ids.h"

namespace slackline::machine {

class WordQueues {
 public:
  /// Nobody is at any word.
  bool idle() const { return used_ == 0; }

  /// An atomic has come to the word at `address`; whether it is served at once.
  bool arrive(std::uint64_t address, sched::OpId op) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[find(address)];
    if (slot.address != address) {
      slot = {address, kNone, kNone};
      ++used_;
      return true;
    }
    std::uint32_t turn = free_;
    if (turn == kNone) {
      turn = static_cast<std::uint32_t>(turns_.size());
      turns_.emplace_back();
    } else {
      free_ = turns_[turn].next;
    }
    turns_[turn] = {op, kNone};
    (slot.first == kNone ? slot.first : turns_[slot.last].next) = turn;
    slot.last = turn;
    return false;
  }
  /// The word's service has ended: whose turn it is, none() if nobody's.
  sched::OpId leave(std::uint64_t address) {
    const std::size_t place = find(address);
    Slot& slot = slots_[place];
    if (slot.first == kNone) {
      remove(place);
      return sched::OpId::none();
    }
    const std::uint32_t turn = slot.first;
    slot.first = turns_[turn].next;
    turns_[turn].next = free_;
    free_ = turn;
    return turns_[turn].op;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::uint64_t kNoWord = ~std::uint64_t{0};
  // A word that somebody is at, and those behind, as a list in turns_.
  struct Slot {
    std::uint64_t address = kNoWord;
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  struct Turn {
    sched::OpId op;
    std::uint32_t next = kNone;
  };

  std::size_t home(std::uint64_t address) const {
    return static_cast<std::size_t>(address * 0x9e3779b97f4a7c15ull >> 32) & (slots_.size() - 1);
  }
  // Where the word is, or would be.
  std::size_t find(std::uint64_t address) const {
    std::size_t at = home(address);
    while (slots_[at].address != address && slots_[at].address != kNoWord) at = next(at);
    return at;
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  // What stands behind and would be found through the gap moves into it.
  void remove(std::size_t gap) {
    --used_;
    for (std::size_t at = next(gap); slots_[at].address != kNoWord; at = next(at)) {
      const std::size_t mask = slots_.size() - 1;
      const std::size_t from_home = (at - home(slots_[at].address)) & mask;
      if (from_home < ((at - gap) & mask)) continue;
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap] = {};
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.address != kNoWord) slots_[find(slot.address)] = slot;
    }
  }

  // Open addressing: words come and go with every atomic, and are few at a time.
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::vector<Turn> turns_;
  std::uint32_t free_ = kNone;  // the first of those that are
};

}  // namespace slackline::machine
