// From a spec to a schedule.
#pragma once

#include "sched/memory_limit.h"
#include "sched/pattern/pattern.h"
#include "sched/plan.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// The Plan of one message, with format_spec as its title. Throws InputError as the pattern does,
/// and for patterns without a Plan.
Plan plan_of(const Spec& spec);

/// Plan, then the passes in their order: lower_transfers, lower_credits, add_barriers. A series of
/// messages is composed of as many schedules; on every rank each waits for the one before it.
/// Throws EnvironmentError, before the work, as require_memory() does.
Schedule compile(const Spec& spec, const MemoryLimit& memory = {});

/// Throws EnvironmentError if `memory` will not hold the schedule while it is made, proved and
/// written as text, by most_ops(): 300 bytes an operation (measured: 90 to 340), and 200 where the
/// pattern writes its own operations, whose bounds are up to three times what is made.
void require_memory(const Spec& spec, const MemoryLimit& memory);

}  // namespace slackline::sched
