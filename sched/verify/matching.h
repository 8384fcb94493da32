// The checks that need no order: both halves of every message are there, and agree on its size.
#pragma once

#include "sched/schedule.h"
#include "sched/verify/findings.h"

namespace slackline::sched {

/// The largest datagram: one packet.
inline constexpr std::uint64_t kDatagramBytes = 4096;

/// Reports `fifo`, `size`, `truncate`, `flag` for a poll that looks elsewhere than at its put's
/// last bytes, and `structure` for a fixed address offset that leads out of its buffer, or a word
/// that does not begin at a multiple of 8.
void check_matching(const Schedule& schedule, Findings& findings);

}  // namespace slackline::sched
