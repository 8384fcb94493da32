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

/// Of a message's post: threads that share its queue pair make it longer, if it passes the NIC.
inline double post_time_s(const sched::Schedule& schedule, const Platform& platform,
                          const sched::Op& op) {
  const double more_s = platform.node.post_more_s();
  const double alone_s = sched::seconds(platform.o_post);
  if (more_s == 0) return alone_s;
  const sched::Channel& channel = schedule.channel(op.channel);
  return platform.node.is_local(channel.src, channel.dst) ? alone_s : alone_s + more_s;
}

/// Of a reduce: its own time if it has one, as those have that count, or that of its bytes. Threads
/// of its process make an update longer.
inline double reduce_time_s(const sched::Schedule& schedule, const Platform& platform,
                            const sched::Op& op) {
  const sched::Time own = schedule.arguments(op).duration;
  const double own_s =
      own.count() != 0 ? sched::seconds(own) : platform.copy_s(schedule.payload_bytes(op));
  const double more_s = platform.node.update_more_s();
  return more_s != 0 && Node::is_update(schedule.bytes(op.writes)) ? own_s + more_s : own_s;
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
  if (is_posted(op.kind)) return post_time_s(schedule, platform, op);
  if (op.kind == sched::OpKind::kCalc) return sched::seconds(schedule.arguments(op).duration);
  if (op.kind == sched::OpKind::kReduce) return reduce_time_s(schedule, platform, op);
  return holds_lane(op.kind) ? platform.copy_s(schedule.payload_bytes(op)) : 0;
}

}  // namespace slackline::machine
