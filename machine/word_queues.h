// Who waits for which word: atomics on one address are served one at a time, in the order of their
// arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sched/ids.h"

namespace slackline::machine {

class WordQueues {
 public:
  /// An atomic has come to the word at `address`; whether it is served at once.
  bool arrive(std::uint64_t address, sched::OpId op) {
    const auto [found, free] = waiting_.try_emplace(address);
    if (!free) found->second.behind.push_back(op);
    return free;
  }
  /// The word's service has ended: whose turn it is, none() if nobody's.
  sched::OpId leave(std::uint64_t address) {
    const auto found = waiting_.find(address);
    Queue& queue = found->second;
    if (queue.head == queue.behind.size()) {
      waiting_.erase(found);
      return sched::OpId::none();
    }
    return queue.behind[queue.head++];
  }

 private:
  // Nearly always empty, and then without memory of its own.
  struct Queue {
    std::vector<sched::OpId> behind;
    std::size_t head = 0;
  };
  // Words that somebody is at, each with those behind. Never walked through.
  std::unordered_map<std::uint64_t, Queue> waiting_;
};

}  // namespace slackline::machine
