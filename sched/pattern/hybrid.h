#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// A binomial pipeline from the root to the leader of every rack, then one within each rack (RDMC,
/// section 4.3). The root leads its own rack; the lowest rank leads any other.
///
/// The second phase's steps come after the first's, but steps do not synchronise: a leader that is
/// executed may pass on the blocks it has while others are still to come. With R racks, the largest
/// of m ranks: (k − 1 + ⌈log2 R⌉ if R > 1) + (k − 1 + ⌈log2 m⌉ if m > 1) steps.
Plan hybrid(const MulticastOptions& options);
extern const PatternEntry kHybridPattern;

}  // namespace slackline::sched
