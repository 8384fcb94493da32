// Sums in the network: the switches, which are ranks, add up what comes from below.
#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// As SHARP has it (Graham et al., COMHPC 2016): every member sends its blocks to its leaf switch.
/// A switch adds up what comes from below, block by block, and sends the sum up; the top sends the
/// sum of all back down, and every switch copies it to all that are below it. A member sends and
/// receives each byte once. On one switch of full speed, where only blocks take time, k blocks take
/// k + 1 block times, however many members there are, where the ring's take 2 (n − 1) / n of k. The
/// switch has room for the whole message, and for two blocks of each that is below it.
Schedule switch_allreduce(const Spec& spec);
/// The same, but that the sum goes down to the root alone.
Schedule switch_reduce(const Spec& spec);

std::uint64_t switch_sum_ops(const Spec& spec);
extern const PatternEntry kSwitchAllreducePattern;
extern const PatternEntry kSwitchReducePattern;

}  // namespace slackline::sched
