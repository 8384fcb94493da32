// How the segments are named that Slackline's processes have in /dev/shm: so that one can be told
// from any other program's, and what a dead process left from what a living one uses.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slackline::hw {

/// The process that made a segment. Its number alone does not say which it is: numbers are given
/// again, and mean another process in another container that shares this /dev/shm.
struct ShmOwner {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;    // when it began, as /proc/PID/stat has it
  std::uint64_t pid_namespace = 0;  // of the number
  friend bool operator==(const ShmOwner&, const ShmOwner&) = default;
};

/// This process. Nothing if /proc does not tell.
std::optional<ShmOwner> own_shm_owner();

/// The name of an owner's segment, "PID:slackline:START:NAMESPACE:NUMBER". `number` tells those of
/// one process apart; it is digits.
std::string shm_name(const ShmOwner& owner, std::string_view number);

/// Whose segment it is by its file's name; nothing for a name that is none of these.
std::optional<ShmOwner> shm_owner(std::string_view file_name);

/// What a process's /proc/PID/stat has behind its name, "STATE …"; empty if there is none, or it
/// cannot be read.
std::string stat_fields(pid_t pid);

/// When a process began, as its /proc/PID/stat has it; nothing if there is none, or it cannot be
/// read.
std::optional<std::uint64_t> start_ticks(pid_t pid);

}  // namespace slackline::hw
