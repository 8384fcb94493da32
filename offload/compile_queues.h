// Compiles a schedule into the queues of NICs that carry it out alone.
#pragma once

#include <cstdint>

#include "offload/message_graph.h"
#include "offload/nic_limits.h"
#include "offload/queue_program.h"
#include "sched/schedule.h"

namespace slackline::offload {

struct QueueOptions {
  Mode mode = Mode::kSqWait;
  /// rdmc-mq enables receives step by step, so it goes without.
  Readiness readiness = Readiness::kHandshake;
  std::uint32_t window = 16;  // kWindow: receives enabled ahead on each edge, ≥ 1
  NicLimits limits;
  /// An edge whose messages, or a management queue whose entries, do not fit one queue are cut into
  /// several; otherwise they are refused.
  bool split = true;
  /// Where every queue's and completion queue's counts begin.
  std::uint64_t queue_start = 0;
  std::uint64_t cq_start = 0;
};

/// One queue pair per channel of the schedule, each queue with a completion queue of its own, so
/// that every one that is waited for has one producer, in order. A message's send stands behind
/// waits for what it needs (message_graph.h), in its own queue (sq-wait) or in front of the entry
/// that enables it (mq-enable); a wait is left out where the same queue already waited on that
/// completion queue at the same or a higher count. Work stands in the order of MessageGraph::order.
/// Every rank has a collector, which waits for all that the rank sends and receives and then tells
/// the host.
///
/// Throws Unsupported, naming the operation, on what cannot be offloaded, and on what does not fit
/// the limits; InputError on options out of range.
QueueProgram compile_queues(const sched::Schedule& schedule, const QueueOptions& options = {});
/// With the schedule's graph, for who compiles it in several ways.
QueueProgram compile_queues(const sched::Schedule& schedule, const MessageGraph& graph,
                            const QueueOptions& options = {});

/// What `mode` uses if nothing is asked for.
constexpr Readiness default_readiness(Mode mode) {
  return mode == Mode::kRdmcMq ? Readiness::kNone : Readiness::kHandshake;
}

}  // namespace slackline::offload
