// The proof about bytes: the pre facts are pushed through the operations and the post facts must
// hold, whatever order the arcs allow.
#pragma once

#include "sched/diagnostic.h"
#include "sched/schedule.h"

namespace slackline::sched {

struct VerifyOptions {
  std::size_t max_diagnostics = 100;  // stop after this many
};

/// Proves or refutes the schedule: FIFO matching, sizes, deadlock, windows, order of conflicting
/// accesses, and the contract (codes in sched/diagnostic.h). Ordered by (code, op). Neither throws
/// nor prints, but for Unsupported when the schedule is not static.
Diagnostics verify(const Schedule& schedule, const VerifyOptions& options = {});

}  // namespace slackline::sched
