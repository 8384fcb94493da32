#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// Piece i of the message, blocks ⌊ik/n⌋ … ⌊(i+1)k/n⌋ − 1, goes to rank i along a binomial tree
/// whose inner ranks keep the pieces of their subtrees; then a ring passes on every piece that the
/// next rank lacks. Each level of the tree, and each round of the ring, takes the steps that its
/// largest transfer needs.
///
/// With L = ⌈log2 n⌉ at most Σ ⌈2^t k/n⌉ (t = 0 … L − 1) + (n − 1)⌈k/n⌉ steps; 2k(n − 1)/n if n
/// divides k.
Plan scatter_allgather(const MulticastOptions& options);
extern const PatternEntry kScatterAllgatherPattern;

}  // namespace slackline::sched
