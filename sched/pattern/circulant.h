#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// Träff's broadcast on a circulant graph: one symmetric rule for every number of ranks, see
/// CirculantSchedule. k − 1 + ⌈log2 n⌉ steps, which is optimal.
Plan circulant(const MulticastOptions& options);
extern const PatternEntry kCirculantPattern;

}  // namespace slackline::sched
