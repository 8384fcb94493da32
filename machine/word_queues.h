// Who waits for which word: atomics on one address are served one at a time, in the order of their
// arrival.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "sched/ids.h"

namespace slackline::machine {

class WordQueues {
 public:
  /// An atomic has come to the word at `address`; whether it is served at once.
  bool arrive(std::uint64_t address, sched::OpId op) {
    const auto [found, free] = waiting_.try_emplace(address);
    if (!free) found->second.push_back(op);
    return free;
  }
  /// The word's service has ended: whose turn it is, none() if nobody's.
  sched::OpId leave(std::uint64_t address) {
    const auto found = waiting_.find(address);
    if (found->second.empty()) {
      waiting_.erase(found);
      return sched::OpId::none();
    }
    const sched::OpId next = found->second.front();
    found->second.pop_front();
    return next;
  }

 private:
  // Words that somebody is at, each with those behind. Never walked through.
  std::unordered_map<std::uint64_t, std::deque<sched::OpId>> waiting_;
};

}  // namespace slackline::machine
