// Memory, operation by operation: who may touch it, and what it holds.
#pragma once

#include <string_view>
#include <vector>

#include "base/memory_limit.h"
#include "sched/schedule.h"
#include "sched/verify/findings.h"
#include "sched/verify/order.h"
#include "sched/verify/segments.h"

namespace slackline::sched {

/// What to do where the proof takes too much memory.
inline constexpr std::string_view kLessProof =
    "fewer slices that overlap, --no-proof, or --memory SIZE if it fits all the same";

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
/// `joins`: neighbouring segments of which the same is known are kept as one, which costs little
/// where slices overlap much, and saves nothing elsewhere. The findings are the same.
///
/// The halves of all messages must match (check_matching). Throws EnvironmentError where the
/// messages under way come to hold more pieces than `limit` allows.
void check_memory(const Schedule& schedule, const SegmentTable& segments, bool joins,
                  const std::vector<bool>& lowers, const OperationOrder& order,
                  const MemoryLimit& limit, OrderProver& prover, Findings& findings);

}  // namespace slackline::sched
