// Which operations the killed member of a simulated group has issued: one more after the other, and
// all together when it is killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/group/failure_run.h"
#include "analysis/group/messages.h"
#include "machine/group/small_shape.h"
#include "sched/trace.h"

namespace slackline::analysis {

class VictimOps {
 public:
  /// `messages`, `small` and `trace`, which is that of the run so far, must outlive this.
  VictimOps(std::uint32_t victim, const GroupMessages& messages, const machine::SmallShape& small,
            const sched::Trace& trace)
      : victim_(victim), messages_(messages), small_(small), trace_(trace) {}

  /// How many it has issued since it was asked last. `message` is the one that it is at.
  std::uint64_t newly_issued(std::size_t message);
  /// What it has written of small messages by now.
  void note(GroupCut& cut) const;

 private:
  bool is_issued(sched::OpId op) const;
  bool watch(std::size_t& next, bool small);
  void watch_more(std::size_t message);

  const std::uint32_t victim_;
  const GroupMessages& messages_;
  const machine::SmallShape& small_;
  const sched::Trace& trace_;
  std::vector<sched::OpId> watched_;  // what it may issue next
  // Which messages that has been through, small ones and those in blocks, and how many counts.
  std::size_t next_small_ = 0;
  std::size_t next_blocks_ = 0;
  std::size_t next_count_ = 0;
  bool has_ahead_ = false;  // …and what is posted ahead of no message
};

}  // namespace slackline::analysis
