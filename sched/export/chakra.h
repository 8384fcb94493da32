#pragma once

#include <string>
#include <vector>

#include "sched/schedule.h"

namespace slackline::sched {

/// The schedule as traces of MLCommons Chakra's schema 1.0, one of each rank: what astra-sim reads
/// as PREFIX.RANK.et. Operation 17 is node 17. Sends, puts with immediate and their receives become
/// COMM_SEND_NODE and COMM_RECV_NODE; the messages of one pair of ranks have tags 0, 1, … in the
/// sender's order. A join is no node, since astra-sim aborts on a METADATA_NODE: what waits for it
/// waits for all that it waits for. calc and delay become COMP_NODE, in microseconds to the
/// nearest; where that is not exact, attribute slackline_duration_ps says it (a trace knows no
/// delay that leaves the processor free). Copies, reductions and flushes are COMP_NODE of no time,
/// since what they cost is the machine's to say. A lane that the node's type does not tell
/// (read_chakra() says which) stands in attribute slackline_lane.
///
/// All dependencies are data_deps, since readers follow those. A node waits for the ends of others.
/// A wait for an operation's issue, or for its turn on a channel, becomes waits for all that this
/// operation waits for; it has the lower id, and both are on one lane, which takes it first.
///
/// Throws Unsupported, naming the operation, as write_goal() does, on a wait for the issue of an
/// operation of another lane or of one that stands behind, on a cycle of joins, where joins of many
/// operations for many others make more dependencies than 2^22 and four times what the schedule
/// has, and on schedules that are not static.
std::vector<std::string> write_chakra(const Schedule& schedule);

}  // namespace slackline::sched
