// Whether what ran did what the schedule says, from the run's trace alone: simulated or real.
#pragma once

#include <cstddef>
#include <functional>

#include "sched/diagnostic.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// Every operation of a static schedule ran exactly once, and ended: one finding for each that did
/// not (`structure`). With the contract, which says that each handler's record is in its word once,
/// this is that every delegate ran exactly once.
Diagnostics check_ran_once(const Schedule& schedule, const Trace& trace);

/// Up to which a time of the rank is one on the clock of all.
using ClockError = std::function<double(RankId rank, double time_s)>;

/// Nothing of a static schedule came before what it waits for: every arc of sched/event_graph.h but
/// that of posted receives, and so the order of handlers too, where edges give it. Times of
/// different ranks are compared up to the errors of both. One finding for each event that came too
/// soon (`structure`), at most `most`.
Diagnostics check_order(const Schedule& schedule, const Trace& trace, const ClockError& clock_error,
                        std::size_t most = 20);
/// `clock_error_s`: up to which any two times of different ranks can be compared.
Diagnostics check_order(const Schedule& schedule, const Trace& trace, double clock_error_s = 0,
                        std::size_t most = 20);

/// No update of a word by fetch_add was lost, and none acted twice: in some order of the word's
/// fetch_adds each fetched what those before it had added to the word's bytes of the contract
/// (`post`, one finding for each word where no order does). Looks at words on which there are only
/// fetch_adds with literal operands that ran once; a sum of 2^64 and more is beyond it.
Diagnostics check_fetch_adds(const Schedule& schedule, const Trace& trace);

}  // namespace slackline::sched
