#pragma once

#include <cstdint>
#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// The schedule as a GOAL program. Operation 17 is labelled op17. Sends, puts with immediate and
/// their receives become send and recv; the messages of one pair of ranks have tags 0, 1, … in the
/// sender's order. An edge on done is a `requires`, one on issued an `irequires`; what a channel
/// initiates in order is tied by `irequires` where no edge ties it. Lanes other than 0 become cpus.
/// calc and delay become calc, in whole nanoseconds (GOAL knows no delay that leaves the cpu free);
/// join, copy, reduce and flush become `calc 0`, since what they cost is the machine's to say.
/// Credits are messages of 0 bytes.
///
/// The text is what LogGOPSim and ATLAHS read: comments and statements begin at the start of a
/// line, without a blank. Comments at its head say what those programs mean differently: for them a
/// send of at most their eager limit is over once it has left its sender's CPU, here once
/// acknowledged.
///
/// Throws Unsupported, naming the operation, on get, atomics, poll, puts without immediate, a
/// message without its other half, a lane above 255 (a cpu has 8 bits there), and on schedules that
/// are not static.
std::string write_goal(const Schedule& schedule);

/// The same for hosts of so many NICs (1 to 256): a message takes the one with the number of its
/// channel among those between its two ranks (sched/channel_numbers.h), modulo `nics`, at both
/// ends: what platforms call rail=channel.
std::string write_goal_on_nics(const Schedule& schedule, std::uint32_t nics);

}  // namespace slackline::sched
