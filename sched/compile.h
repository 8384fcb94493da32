// From a spec to a schedule.
#pragma once

#include "base/memory_limit.h"
#include "sched/pattern/pattern.h"
#include "sched/plan.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// The Plan of one message, with format_spec as its title. Throws InputError as the pattern does,
/// and for patterns without a Plan.
Plan plan_of(const Spec& spec);

/// The passes in their order: lower_transfers, lower_credits, add_barriers. Of the spec only what
/// it says of these counts: its transfers, credits and order.
Schedule compile_plan(const Plan& plan, const Spec& spec);

/// Plan, then compile_plan(). A series of messages is composed of as many schedules; on every rank
/// each waits for the one before it.
/// Throws EnvironmentError, before the work, as require_memory() does.
Schedule compile(const Spec& spec, const MemoryLimit& memory = {});

/// What the schedule of a pattern with a Plan takes while it is made, proved and written as text,
/// in bytes an operation (measured: 90 to 340); and when it is there.
inline constexpr std::uint64_t kMemoryOfOp = 300;
inline constexpr std::uint64_t kMemoryOfOpMade = 150;

/// Throws EnvironmentError if `memory` will not hold what is made of the spec, by most_ops():
/// `bytes_of_op` for each operation. Where the pattern writes its own operations,
/// PatternEntry::op_memory stands for kMemoryOfOp, and two thirds of what is beyond: their number
/// is mostly below most_ops().
void require_memory(const Spec& spec, const MemoryLimit& memory,
                    std::uint64_t bytes_of_op = kMemoryOfOp);

}  // namespace slackline::sched
