// Distributed Monte-Carlo tree search over Hex (Seriema, section 5; Grappa's kind of workload).
#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// `rollouts` of a search over an 11 × 11 board (sched/workloads/tasks/hex_tree.h), begun in turn
/// by the tasks of all cores; every vertex of the tree is held by a rank drawn at random. A rollout
/// is a chain of calls, each run at its vertex's owner: select (`handler`), down the tree; play,
/// where a vertex is new (`handler`, and `playouts` times `work`); update (`handler`, and a
/// reduce), up to the root, from where the task that began it is answered. What is selected follows
/// from the order in which the plan runs the calls.
///
/// `bundle` is what its channels are given: none, trad or ovfl, of `flush` bytes and `age`; it is
/// beside `aggregation`, which is made of operations.
///
/// The contract: every vertex's word is the sum of its value and of the records of all updates of
/// it, each once. Throws InputError for options out of their range.
Schedule hex_search(const Spec& spec);

/// No fewer than it makes.
std::uint64_t hex_search_ops(const Spec& spec);
extern const PatternEntry kHexSearchPattern;

}  // namespace slackline::sched
