#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// Rank i relays every block to rank i + 1 (RDMC, section 4.3). k + n − 2 steps.
Plan chain(const MulticastOptions& options);
extern const PatternEntry kChainPattern;

}  // namespace slackline::sched
