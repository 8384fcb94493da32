#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// Two binary trees over the ranks but the root, so laid that a rank has children in one of them at
/// most (Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
/// scan", 2009). Even blocks go down the first tree, odd blocks down the second; the root feeds
/// both in turn. Edges are two-coloured so that a rank never receives from both trees, nor sends to
/// both its children, in steps of one colour; even steps belong to one colour, odd steps to the
/// other.
///
/// The first tree, over positions 1 … n − 1: a position's parent is the one with its lowest bit
/// cleared and the next higher bit set, or, if that is past the end, with its lowest bit cleared
/// alone. The second is the first mirrored (n odd), or shifted by one (n even).
/// At least k − 1 + ⌈log2 n⌉ and at most k + 2⌊log2(n − 1)⌋ steps.
Plan double_tree(const MulticastOptions& options);
extern const PatternEntry kDoubleTreePattern;

}  // namespace slackline::sched
