// The messages of a group as one schedule: a member begins with one when it has done with the one
// before.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/group/plan.h"
#include "sched/compose.h"

namespace slackline::analysis {

struct GroupMessages {
  /// Ranks are members; part k is message k.
  sched::Composition whole;
  /// By message, how it runs alone: what the machine carries out.
  std::vector<std::shared_ptr<const machine::GroupMessage>> messages;
};

/// Messages of these sizes, in this order; at least one. As hw/group/port.h does, a member has
/// posted no more of a message than what brings it the first block until that block is there.
/// Throws as GroupPlan::message() and compose() do.
GroupMessages messages_of_group(machine::GroupPlan& plan, std::span<const std::uint64_t> bytes);

}  // namespace slackline::analysis
