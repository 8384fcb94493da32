// Reads GOAL programs, as LogGOPSim and ATLAHS take them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sched/schedule.h"

namespace slackline::sched {

/// What a program does not say itself, but whoever runs it.
struct GoalOptions {
  /// Messages of at most so many bytes are buffered where no receive waits for them, on channels of
  /// their own that are `eager` (sched/op.h): LogGOPSim's -S. None are unless it is given.
  std::optional<std::uint64_t> eager_bytes;
  /// All the NICs of a rank are its one NIC here.
  bool one_nic = false;
  /// The program is for hosts of so many NICs, 1 to 256: those of a platform with as many `rails`
  /// and rail=channel. Not beside one_nic.
  std::optional<std::uint32_t> nics = {};
};

/// The program as a schedule: one channel per (source, destination, tag) in the order in which they
/// first come up; each message in a piece of memory of its own, all of a rank's sent bytes in one
/// buffer and all it receives in another; what is sent is there from the start (rank r holds value
/// r), and nothing is claimed about the end. `calc` counts nanoseconds; `cpu` is the lane.
///
/// With `nics`, messages that meet are on one NIC at both ends, and each NIC has channels of its
/// own: channel i of two ranks (sched/channel_numbers.h) is on NIC i mod nics. So where two ranks
/// use some NICs less than others, there are channels between them that carry nothing.
///
/// The statements of a rank keep their order unless a dependency turns it round. The k-th send of
/// a channel in that order meets its k-th receive. A send ends only once its receive is posted,
/// unless it is eager. So a program that counts on messages being buffered deadlocks without; the
/// error then names the least `eager_bytes` with which it does not.
///
/// It takes what LogGOPSim's txt2bin takes, which asks for no blanks between tokens, and comments
/// and blanks in more places. It refuses what that program takes in silence and then gets wrong: of
/// a repeated label it loses the second, behind the last rank it reads nothing, and messages
/// without their other half, of two sizes, or in a deadlock are left lying.
///
/// Throws InputError, naming file and line, on what is not GOAL: unknown and repeated labels, ranks
/// that are missing or out of order, dependency cycles, deadlocks across ranks, a message without
/// its other half or with two sizes, a NIC that `nics` does not have. Throws Unsupported on the
/// wildcard −1, on a rank that sends over several NICs, or receives over several, unless they are
/// to be one or `nics` says how many there are, on a message that leaves on another NIC than it
/// comes to, and on more than 2^24 channels that NICs take.
Schedule read_goal(std::string_view text, std::string_view file = "goal",
                   const GoalOptions& options = {});

/// The same of what txt2bin has made of such a program (sched/export/goal_binary.h), byte by byte
/// held against the form. Errors name the byte.
Schedule read_goal_binary(std::string_view bytes, std::string_view file = "goal",
                          const GoalOptions& options = {});

/// Whether `text` begins as a GOAL program does, after blanks and comments.
bool looks_like_goal(std::string_view text);

}  // namespace slackline::sched
