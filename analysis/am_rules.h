// The rules of active messages, as GASNet has them ("RDMA vs. RPC", sections II-B and II-D).
#pragma once

#include <span>

#include "sched/diagnostic.h"
#include "sched/pattern/structure.h"

namespace slackline::analysis {

inline constexpr std::uint64_t kMostArgumentBytes = 64;

/// A handler sends at most one reply, to the rank that called, and takes part in no other
/// communication; a request has at most 64 B of arguments beside its payload. What breaks a rule is
/// named; code kStructure.
sched::Diagnostics check_am_rules(const sched::Schedule& schedule,
                                  std::span<const sched::AmHandler> handlers);

}  // namespace slackline::analysis
