// A collective's plan becomes sends, receives and reduces.
#pragma once

#include <cstdint>

#include "sched/pattern/collective_plan.h"
#include "sched/schedule.h"

namespace slackline::sched {

struct CollectiveLowering {
  std::uint32_t in_flight = 1;  // messages that a rank has under way at once; 0: no bound
  std::uint32_t slots = 16;     // where operands land at each rank until they are added, ≥ 1
  std::uint32_t adders = 0;     // CPU lanes 1 … adders add them in turn; 0: the one that posts
  /// Ranks from this one on have no bound of messages: switches, which send to all their ports.
  std::uint32_t unbounded_from = 0xffffffffu;
};

/// A draft (ScheduleBuilder::build_draft), for the next pass. One channel per ordered pair of
/// ranks; one buffer per rank, in place: it holds the rank's own value before, and partial sums on
/// the way. What combines lands in one of `slots` places and is added by a reduce, or by a join if
/// it has no bytes. A message waits for all that it carries.
///
/// Of a plan of rank 0 alone a schedule of one rank: what it sends the rank that is some way off,
/// and what comes from the rank that is as far the other way, go over a channel from it to itself.
///
/// The contract: rank r holds value r before, all of it or its own share. After, the sum of all
/// values (Fact::terms) or every share stands at the root, or at all ranks.
Schedule draft_collective(const CollectivePlan& plan, const CollectiveLowering& options = {});

/// The same, checked and with its digest.
Schedule lower_collective(const CollectivePlan& plan, const CollectiveLowering& options = {});

}  // namespace slackline::sched
