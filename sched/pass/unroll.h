// Regions written out, so that what takes static schedules can take the result.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/memory_limit.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// Asked once for each decision of a region, in the order in which its rank comes to them: whether
/// a retry's attempt, which has just been written out, succeeds, or whether an alt is taken.
using Decide = std::function<bool(std::uint32_t region)>;

/// Replaces the literal or the result that an operation's address is offset by.
using Address = std::function<Operand(OpId op, const Operand& offset)>;

struct Unrolled {
  Schedule schedule;
  std::vector<OpId> origin;  // of each operation, which it was; none() for joins and delays between
};

/// Every attempt's operations, one attempt after another. A join begins a region, and one ends it;
/// between attempts there is a join, or a delay for the backoff. A run of the result takes the same
/// times as one of the schedule that decides likewise. Throws InputError as RegionTree does, for a
/// retry that never succeeds, an operand that is the result of an operation passed over, and flags
/// not put as often as polled. Channels that gather messages do so in the result too.
/// Throws EnvironmentError if `memory` will not hold it: before the work where the attempts of
/// repeats say so, otherwise once what is written out does.
Unrolled unroll(const Schedule& schedule, const Decide& decide, const Address& address = {},
                const MemoryLimit& memory = {});

}  // namespace slackline::sched
