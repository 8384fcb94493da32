#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// The root sends the whole message to rank 1, then to rank 2, … (RDMC, section 4.3).
/// k(n − 1) steps.
Plan sequential(const MulticastOptions& options);
extern const PatternEntry kSequentialPattern;

}  // namespace slackline::sched
