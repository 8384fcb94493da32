// The checks that need no order: both halves of every message are there, and agree on its size.
#pragma once

#include "sched/schedule.h"
#include "sched/verify/findings.h"

namespace slackline::sched {

/// The largest datagram: one packet.
inline constexpr std::uint64_t kDatagramBytes = 4096;

/// Reports `fifo`, `size`, `truncate`, and `structure` for a fixed address offset that leads out of
/// its buffer.
void check_matching(const Schedule& schedule, Findings& findings);

}  // namespace slackline::sched
