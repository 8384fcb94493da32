// Memory, operation by operation: who may touch it, and what it holds.
#pragma once

#include <vector>

#include "sched/schedule.h"
#include "sched/verify/findings.h"
#include "sched/verify/order.h"
#include "sched/verify/segments.h"

namespace slackline::sched {

/// Reports `raw`, `war`, `waw`, `uninitialised`, `post`, `flag` for a poll that may see something
/// else than its put, and the warning `duplicate`. `lowers`: as check_shared_flags() answers.
///
/// The operations are taken in one order in which they can be issued, each with all its effect at
/// its issue (a message when both its halves are issued). Why one order is enough: every two
/// accesses that conflict are either proven to be ordered, the same way in all orders, or reported.
/// If none is reported, then in any execution every operation meets, at each byte that it reads,
/// the write that it meets here; so by induction it reads the same values and leaves the same
/// values. What lies between an operation's issue and its release cannot be told apart from its
/// issue, since whoever looks comes after the release.
///
/// The halves of all messages must match (check_matching).
void check_memory(const Schedule& schedule, const SegmentTable& segments,
                  const std::vector<bool>& lowers, const IssueOrder& order, OrderProver& prover,
                  Findings& findings);

}  // namespace slackline::sched
