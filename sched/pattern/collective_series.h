// The collectives as schedules.
#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// One collective each, lowered by lower_collective and lower_credits from its plan
/// (sched/pattern/collective.h, which has the steps). SeriesOptions::messages is the caller's: a
/// series is composed. Throw InputError for options out of their range.
Schedule reduce(const SeriesOptions& options);
Schedule allreduce(const SeriesOptions& options);
/// `bytes` are each rank's own.
Schedule allgather(const SeriesOptions& options);
/// Has no bytes.
Schedule barrier(const SeriesOptions& options);

/// No fewer operations than all `messages` make.
std::uint64_t reduce_ops(const SeriesOptions& options);
std::uint64_t allreduce_ops(const SeriesOptions& options);
std::uint64_t allgather_ops(const SeriesOptions& options);
std::uint64_t barrier_ops(const SeriesOptions& options);

}  // namespace slackline::sched
