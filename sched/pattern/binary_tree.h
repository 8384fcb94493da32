#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// Blocks are pipelined down the complete binary tree in heap order: the children of rank r are
/// 2r + 1 and 2r + 2. A rank sends each block to its first child, then to its second.
/// With D = ⌊log2 n⌋, 2k − 2 + max(2D − 2, D + ⌊log2(n − 2^D + 1)⌋) steps, which is 2(k + D − 1)
/// for a full tree; k steps for n = 2, where the root has one child.
Plan binary_tree(const MulticastOptions& options);
extern const PatternEntry kBinaryTreePattern;

}  // namespace slackline::sched
