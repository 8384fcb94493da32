// Which message meets which receive where the schedule does not say: on channels with operations in
// regions, how often they run is only known in a run.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "sched/region_tree.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// The k-th message issued on a channel meets the k-th receive issued on it, and the k-th put of a
/// flag the k-th turn of its poll.
class Meetings {
 public:
  Meetings(const sched::Schedule& schedule, const sched::RegionTree& tree);

  /// Whether the operation meets its other half here, and not by Op::match.
  bool holds(sched::OpId op) const {
    return !queue_of_.empty() && queue_of_[op.value] != sched::RegionTree::kNone;
  }

  struct Met {
    sched::OpId source;
    double arrival_s;
  };
  /// A source is issued; other operations do not count.
  void initiated(sched::OpId op) {
    if (holds(op)) number(op);
  }
  /// A receive or a poll is issued; what has arrived for it, if it has.
  std::optional<Met> posted(sched::OpId op);
  /// When a source's message arrives is known; the receive that was issued for it, or none().
  sched::OpId arrived(sched::OpId op, double arrival_s);

 private:
  struct Meeting {
    sched::OpId source;
    sched::OpId receive;
    double arrival_s = std::numeric_limits<double>::infinity();
  };
  struct Queue {
    std::deque<Meeting> open;  // the first is the `first`-th
    std::uint64_t first = 0;
    std::uint64_t sources = 0;
    std::uint64_t receives = 0;
  };
  void number(sched::OpId op);
  static Meeting& at(Queue& queue, std::uint64_t number);
  static void close(Queue& queue);

  std::vector<std::uint32_t> queue_of_;  // of every operation; empty without regions
  std::vector<std::uint64_t> number_of_;
  std::vector<Queue> queues_;
};

}  // namespace slackline::machine
