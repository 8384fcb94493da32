// What a schedule is in GOAL, whether it is written as text or as bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sched/event_graph.h"
#include "sched/schedule.h"

namespace slackline::sched {

struct GoalOperation {
  OpKind kind = OpKind::kCalc;  // send, recv or calc
  std::uint8_t cpu = 0;
  std::uint8_t nic = 0;      // send, recv
  std::uint32_t peer = 0;    // send, recv
  std::uint32_t tag = 0;     // send, recv
  std::uint64_t amount = 0;  // bytes, or ticks of time
};

/// What else is written so: programs of messages and computation that say nothing of memory.
struct GoalDialect {
  std::string_view format;         // what errors begin with
  std::string_view tool = "GOAL";  // what has no counterpart
  std::uint32_t ticks_per_ns = 1;  // 1 to 10^6: a tick is a nanosecond, or a part of one
  std::uint16_t most_lane = 255;   // above 255 a GoalOperation does not say it
  // Of a host, 1 to 256: messages take them by their channels' numbers (sched/channel_numbers.h).
  std::uint32_t nics = 1;
  bool takes_own = true;  // messages of a rank to itself
};

class GoalOperations {
 public:
  /// Throws Unsupported if the schedule is not static. The schedule must outlive this.
  GoalOperations(const Schedule& schedule, const GoalDialect& dialect);

  /// Throws Unsupported, naming the operation, as write_goal() says.
  GoalOperation of(OpId id) const;

  /// Calls `visit(pred, on)` for each operation of the rank that `id` requires (done) or irequires
  /// (issued): those of its edges, and what its channel initiates before it where no edge ties the
  /// two.
  template <class Visit>
  void for_each_required(OpId id, Visit&& visit) const {
    const OpId previous = order_.previous[id.value];
    bool tied = !previous.valid() || schedule_.op(id).kind == OpKind::kRecv;
    for (const Edge& edge : schedule_.edges_into(id)) {
      tied = tied || edge.pred == previous;
      visit(edge.pred, edge.on);
    }
    if (!tied) visit(previous, On::kIssued);
  }

 private:
  [[noreturn]] void refuse(OpId id, std::string_view why) const;

  const Schedule& schedule_;
  const GoalDialect dialect_;
  ChannelOrder order_;
  std::vector<std::uint32_t> tags_;
  std::vector<std::uint32_t> numbers_;  // by channel; empty for one NIC
};

}  // namespace slackline::sched
