// Uniform random access to global memory, by tasks that tolerate its latency (Grappa).
#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// Every rank makes `accesses` accesses (sched/workloads/tasks/access_stream.h) to `words` · ranks
/// words; task t of a core makes those numbered t, t + tasks, …, one after the other, and is
/// switched to before each (`switch`, `resident`). By
///   delegate   a request to the word's home core, whose handler (`handler`, then a copy and a
///              reduce) fetches and adds, adds, reads or writes (`access`), and replies; one
///              outstanding per task. Messages go alone, or by `aggregation`.
///   fetch-add  a fetch_add in the home's NIC: raw RDMA
///   cached     `cache-bytes` of linear memory are acquired by gets of their blocks, worked on in
///              place, and released by puts whose acknowledgements are waited for: read-only,
///              read-write or write-only. Caches are not coherent: every range that is written is
///              acquired once; those only read are drawn. `cache=exclusive` has blocks that are
///              drawn and have one owner at a time (owned_blocks.h).
/// A task works for `work` before each access, and before each update of an exclusive block. Words
/// stand at linear addresses or, with address=2d, at random ranks' own; with home=others those of
/// delegates and fetch-adds are other ranks'.
///
/// The contract: by delegate, every word that was added to is the sum of its value and of each
/// record, once; by=cached likewise of whole ranges. What is read is what stood there. Of words
/// written several times the last planned write stands. What atomics make of words is for
/// sched/workloads/run_check.h. Throws InputError for options out of their range.
Schedule random_access(const Spec& spec);

/// No fewer than it makes.
std::uint64_t random_access_ops(const Spec& spec);
extern const PatternEntry kRandomAccessPattern;

}  // namespace slackline::sched
