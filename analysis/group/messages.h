// The messages of a group as one schedule: a member begins with one when it has done with the one
// before.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/group/plan.h"
#include "machine/group/small_shape.h"
#include "sched/compose.h"

namespace slackline::analysis {

/// What a member does for a message: it has the message once that has come to `until`.
struct GroupMessageOps {
  sched::OpId own;
  sched::OpId end;
  sched::On until = sched::On::kDone;
};

/// By member, which operations of its own it posts ahead of a message in blocks, before it knows of
/// that: places among those of the message, ascending.
using PlacesAhead = std::vector<std::vector<std::uint32_t>>;

struct GroupMessages {
  sched::Schedule schedule;
  /// By message, how it runs alone in blocks: what the machine carries out. Null of a small one.
  std::vector<std::shared_ptr<const machine::GroupMessage>> messages;
  /// By message, likewise.
  std::vector<std::shared_ptr<const PlacesAhead>> places_ahead;
  /// The small messages, by their place among all.
  std::vector<std::uint32_t> small;
  /// By member, the counts of small messages that it writes to the root, in order. None of the
  /// root's.
  std::vector<std::vector<sched::OpId>> counts;
  /// By message, then by member.
  std::vector<GroupMessageOps> parts;
  /// By member: what it posts ahead of a message in blocks that comes no more. First the receive of
  /// the first block, and the readiness that it tells; then the receives of the readiness of
  /// others. Nothing matches that first receive, so a calc of no time stands for it: to give it the
  /// time of a receive's post is for whoever runs the schedule. Empty of a single member.
  std::vector<GroupMessageOps> ahead;

  /// Of a message in blocks the operations of its own schedule, in order. Of a small one: the root
  /// takes it into a slot, then writes it to each other member, and has it when the last write is
  /// posted; a member takes it out.
  const GroupMessageOps& ops(std::size_t message, std::uint32_t member) const {
    return parts[message * schedule.rank_count() + member];
  }
};

/// Messages of these sizes, in this order; at least one. As hw/group/port.h does, a member has
/// posted no more of a message in blocks than what brings it the first block until that block is
/// there. Small ones go as `small_run()` says; a message in blocks leaves the root when all small
/// ones before it stand at every member, and a member passes blocks on when it has taken them.
/// Behind the last message in blocks members make themselves ready for one more, before any small
/// message that follows.
/// Throws as GroupPlan::message(), check() of a SmallShape
/// and compose() do.
GroupMessages messages_of_group(machine::GroupPlan& plan, std::span<const std::uint64_t> bytes,
                                const machine::SmallShape& small = {});

}  // namespace slackline::analysis
