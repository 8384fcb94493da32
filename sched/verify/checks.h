// The checks that a proof is made of, in the order in which verify() makes them.
#pragma once

#include <string_view>
#include <vector>

#include "base/memory_limit.h"
#include "sched/schedule.h"
#include "sched/verify/findings.h"
#include "sched/verify/order.h"
#include "sched/verify/segments.h"

namespace slackline::sched {

/// The largest datagram: one packet.
inline constexpr std::uint64_t kDatagramBytes = 4096;

/// What needs no order: both halves of every message are there, and agree on its size. Reports
/// `fifo`, `size`, `truncate`, `flag` for a poll that looks elsewhere than at its put's last bytes,
/// and `structure` for a fixed address offset that leads out of its buffer, or a word that does not
/// begin at a multiple of 8.
void check_matching(const Schedule& schedule, Findings& findings);

/// Reports `flag` for polls that look at some bytes of another's flag, but not at the same. Answers
/// which polls lower their flag, by operation: a later one looks at it. Empty if none does.
std::vector<bool> check_shared_flags(const Schedule& schedule, const SegmentTable& segments,
                                     Findings& findings);

/// No message without a posted receive, and at most `window` receives ahead. Reports `window`. For
/// every message k of a channel with window w > 0, issued(its receive) must come before issued(it),
/// and, for k ≥ w, so must done(receive k − w). Of datagram channels the former is asked whatever
/// their window: nothing keeps a datagram that no receive waits for.
void check_windows(const Schedule& schedule, OrderProver& prover, Findings& findings);

/// What to do where the proof takes too much memory.
inline constexpr std::string_view kLessProof =
    "fewer slices that overlap, --no-proof, or --memory SIZE if it fits all the same";

/// Memory, operation by operation: who may touch it, and what it holds. Reports `raw`, `war`,
/// `waw`, `uninitialised`, `post`, `flag` for a poll that may see something else than its put, and
/// the warning `duplicate`. `lowers`: as check_shared_flags() answers.
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
