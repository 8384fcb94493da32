#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// In round t every rank i < 2^t, each holding the whole message, sends it to rank i + 2^t (RDMC,
/// section 4.3). k⌈log2 n⌉ steps.
Plan binomial_tree(const MulticastOptions& options);
extern const PatternEntry kBinomialTreePattern;

}  // namespace slackline::sched
