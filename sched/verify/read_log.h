// Reads of many segments, each noted in a few places of a tree over the segments and never undone:
// who asks names the time from which on reads count.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/verify/segments.h"

namespace slackline::sched {

class ReadLog {
 public:
  explicit ReadLog(std::size_t segments);

  struct Read {
    SegmentRun run;
    std::uint32_t time;
  };

  /// Notes a read of a run. Times are above 0 and do not fall.
  void add(SegmentRun run, std::uint32_t time);

  /// Calls visit(read) once for each read after `time` that touches a run, in no certain order.
  template <class Visit>
  void for_each_since(std::uint32_t time, SegmentRun run, Visit&& visit) {
    ++search_;
    pending_.assign(1, {1, 0, leaves_});
    while (!pending_.empty()) {
      const Node node = pending_.back();
      pending_.pop_back();
      if (node.end <= run.first || node.begin >= run.last || newest_[node.number] <= time) continue;
      for (std::uint32_t e = entries_of_[node.number]; e != kEnd; e = entries_[e].next) {
        const std::uint32_t read = entries_[e].read;
        if (reads_[read].time <= time) break;
        if (seen_[read] == search_) continue;
        seen_[read] = search_;
        visit(reads_[read]);
      }
      if (node.end - node.begin == 1) continue;
      pending_.push_back(left(node));
      pending_.push_back(right(node));
    }
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffffu;
  struct Node {  // of segments [begin, end)
    std::uint32_t number;
    std::uint32_t begin;
    std::uint32_t end;
  };
  struct Entry {
    std::uint32_t read;
    std::uint32_t next;  // older
  };
  static Node left(Node node) {
    return {2 * node.number, node.begin, node.begin + (node.end - node.begin) / 2};
  }
  static Node right(Node node) {
    return {2 * node.number + 1, node.begin + (node.end - node.begin) / 2, node.end};
  }

  std::uint32_t leaves_;                   // a power of two
  std::vector<std::uint32_t> entries_of_;  // by node: of reads that cover it and not its parent
  std::vector<std::uint32_t> newest_;      // by node: the time of the last read in it or below
  std::vector<Entry> entries_;
  std::vector<Read> reads_;
  std::vector<std::uint64_t> seen_;  // by read: the last search that met it
  std::uint64_t search_ = 0;
  std::vector<Node> pending_;
};

}  // namespace slackline::sched
