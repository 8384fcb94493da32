// Which operations make a completion that their rank's program takes: one rule for simulators and
// the executor.
//
// Every receive makes one. What a rank initiates makes one only if it is posted with a signal, and
// a program asks for as few signals as it can: requests of one channel complete in the order in
// which they were posted, so that a completion speaks for the silent ones before it (Seriema,
// section 4.1). A signal is needed where
//   - an arc leads away from the operation's done, or a region's end tells of it;
//   - it counts for the bound of messages in flight, or is an atomic, which brings a result;
//   - its channel gathers messages;
//   - it is the last of its channel, since nothing later speaks for it;
//   - the next operation of its channel may be left out (it stands in a region), or posts nothing
//     (a put or get without bytes): the row of silent ones ends before it.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/issue_policy.h"
#include "sched/region_tree.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// Of the tree's operations, by their places in its range, which no arc may leave. `order` and
/// `small_bytes` say what counts for the bound, as they do for Lanes. A transport that completes in
/// no order gives a completion to all that ranks initiate; that is not asked here.
std::vector<bool> signalled_operations(const sched::Schedule& schedule,
                                       const sched::RegionTree& tree, const IssueOrder& order,
                                       std::uint64_t small_bytes);

}  // namespace slackline::machine
