// What an operation asks of its CPU lane: docs/architecture.md, "The machine model".
#pragma once

#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// Posted: issued at the end of its lane time. The others are issued at its start.
constexpr bool is_posted(sched::OpKind kind) {
  return sched::is_initiator(kind) || kind == sched::OpKind::kRecv;
}

/// Delays, joins, polls and flushes hold no lane.
constexpr bool holds_lane(sched::OpKind kind) {
  return is_posted(kind) || kind == sched::OpKind::kCalc || kind == sched::OpKind::kCopy ||
         kind == sched::OpKind::kReduce;
}

/// How long an operation holds its lane if nothing delays it, in seconds; 0 if it holds none. What
/// its completion costs (machine/completions.h) is not in it. A switch posts and adds at the speed
/// of its ports, so that only its calculations take time.
inline double lane_time_s(const sched::Schedule& schedule, const Platform& platform,
                          const sched::Op& op) {
  if (platform.switches.any() && op.kind != sched::OpKind::kCalc &&
      platform.switches.holds(op.rank, schedule.rank_count())) {
    return 0;
  }
  if (op.kind == sched::OpKind::kRecv) return sched::seconds(platform.post_of_receive());
  if (is_posted(op.kind)) return sched::seconds(platform.o_post);
  // Of a calculation, and of a reduce that counts.
  const sched::Time own = schedule.arguments(op).duration;
  if (op.kind == sched::OpKind::kCalc) return sched::seconds(own);
  if (op.kind == sched::OpKind::kReduce && own.count() != 0) return sched::seconds(own);
  return holds_lane(op.kind) ? platform.copy_s(schedule.payload_bytes(op)) : 0;
}

}  // namespace slackline::machine
