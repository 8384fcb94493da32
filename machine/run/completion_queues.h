// Completions that wait, lane by lane, until the program looks for them: in the order in which they
// came, and before the operations that wait for the lane. And whether it looks at memory meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sched/ids.h"

namespace slackline::machine {

class CompletionQueues {
 public:
  /// `receives` says of each message how many receives bring it; empty if nobody asks.
  CompletionQueues(std::uint32_t lanes, std::vector<std::uint32_t> receives)
      : lanes_(lanes), left_(std::move(receives)) {}

  /// The operation's is there.
  void add(std::uint32_t lane, sched::OpId op) { lanes_[lane].waiting.push_back(op); }
  bool waits(std::uint32_t lane) const { return !lanes_[lane].waiting.empty(); }

  /// A look: up to `most` that wait are seen from now on, and answered.
  const std::vector<sched::OpId>& look(std::uint32_t lane, std::uint32_t most) {
    Lane& l = lanes_[lane];
    const auto end = l.waiting.begin() + std::min<std::ptrdiff_t>(most, std::ssize(l.waiting));
    l.seen.assign(l.waiting.begin(), end);
    l.waiting.erase(l.waiting.begin(), end);
    return l.seen;
  }
  /// The look is over.
  const std::vector<sched::OpId>& seen(std::uint32_t lane) const { return lanes_[lane].seen; }
  void forget(std::uint32_t lane) { lanes_[lane].seen.clear(); }

  /// A poll of the lane's begins to look at memory, or ends.
  void begin_watching(std::uint32_t lane) { ++lanes_[lane].polls; }
  void end_watching(std::uint32_t lane, double now_s) {
    --lanes_[lane].polls;
    lanes_[lane].watched_s = now_s;
  }
  /// When the last poll of the lane's ended; 0 before.
  double watched_until(std::uint32_t lane) const { return lanes_[lane].watched_s; }
  bool watches(std::uint32_t lane) const { return lanes_[lane].polls != 0; }

  /// The core is for the thread that sees completions, or for the program, from now on; whether the
  /// other one had it. At first the program has.
  bool changes_thread(std::uint32_t lane, bool service) {
    return std::exchange(lanes_[lane].service, service) != service;
  }

  /// A receive of the message's is seen; whether it was the last.
  bool completes(std::uint32_t message) { return --left_[message] == 0; }

  friend bool operator==(const CompletionQueues&, const CompletionQueues&) = default;

 private:
  struct Lane {
    std::deque<sched::OpId> waiting;
    std::vector<sched::OpId> seen;  // in the look at hand
    std::uint32_t polls = 0;
    double watched_s = 0;  // until then
    bool service = false;  // the thread that sees completions has the core
    friend bool operator==(const Lane&, const Lane&) = default;
  };
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> left_;  // of each message: receives that were not seen
};

}  // namespace slackline::machine
