// Windows: no message without a posted receive, and at most `window` receives ahead.
#pragma once

#include "sched/schedule.h"
#include "sched/verify/findings.h"
#include "sched/verify/order.h"

namespace slackline::sched {

/// Reports `window`. For every message k of a channel with window w > 0, issued(its receive) must
/// come before issued(it), and, for k ≥ w, so must done(receive k − w). Of datagram channels the
/// former is asked whatever their window: nothing keeps a datagram that no receive waits for.
void check_windows(const Schedule& schedule, OrderProver& prover, Findings& findings);

}  // namespace slackline::sched
