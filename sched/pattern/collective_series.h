// The collectives as schedules.
#pragma once

#include <optional>

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// One collective each, lowered by lower_collective and lower_credits from its plan
/// (sched/pattern/collective.h and the algorithms beside it, which have the steps). Spec::messages
/// is the caller's: a series is composed. Throw InputError for options out of their range.
Schedule reduce(const Spec& spec);
Schedule allreduce(const Spec& spec);
/// `bytes` are each rank's own.
Schedule allgather(const Spec& spec);
/// `bytes` are what is summed.
Schedule reduce_scatter(const Spec& spec);
/// `bytes` are each rank's share.
Schedule scatter(const Spec& spec);
Schedule gather(const Spec& spec);
/// `bytes` are what a rank has for another.
Schedule alltoall(const Spec& spec);
/// Has no bytes.
Schedule barrier(const Spec& spec);

/// Whether the spec is one of these collectives and has ranks, at least two, that all do the same
/// with messages of the same sizes.
bool ranks_are_alike(const Spec& spec);
/// Then the program of rank 0 as a schedule of one rank (lower_collective has its channels), made
/// in memory for what one rank does; else nothing. Where all hosts are the same and nothing is
/// delayed, every rank does at any time what this one does. Of one message, without stripes.
std::optional<Schedule> schedule_of_first(const Spec& spec);

/// No fewer operations than all `messages` make.
std::uint64_t reduce_ops(const Spec& spec);
std::uint64_t allreduce_ops(const Spec& spec);
std::uint64_t allgather_ops(const Spec& spec);
std::uint64_t reduce_scatter_ops(const Spec& spec);
std::uint64_t tree_shares_ops(const Spec& spec);  // scatter, gather
std::uint64_t alltoall_ops(const Spec& spec);
std::uint64_t barrier_ops(const Spec& spec);
extern const PatternEntry kReducePattern;
extern const PatternEntry kAllreducePattern;
extern const PatternEntry kAllgatherPattern;
extern const PatternEntry kReduceScatterPattern;
extern const PatternEntry kScatterPattern;
extern const PatternEntry kGatherPattern;
extern const PatternEntry kAlltoallPattern;
extern const PatternEntry kBarrierPattern;

}  // namespace slackline::sched
