// Whether there is room in /dev/shm for the segments of ranks. In containers it has 64 MiB, unless
// they were told more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slackline::hw {

struct ShmRoom {
  std::uint64_t free_bytes = 0;
  std::uint64_t all_bytes = 0;
  std::uint32_t cores = 1;  // of this machine: libfabric looks for room for so many ranks
  /// Files that may still be made there; nothing: there is no limit, or it cannot be told.
  std::optional<std::uint64_t> free_files = std::nullopt;
  int refused = 0;  // why a file cannot be made there, as errno has it; 0 if it can
};

/// What there is in /dev/shm just now; nothing if that cannot be told.
std::optional<ShmRoom> shm_room();

/// What is to be free before `ranks` ranks of this host open their segments.
std::uint64_t shm_bytes_needed(std::uint32_t ranks, std::uint32_t cores);

/// Throws EnvironmentError with the cure if nobody can make a file there: it is not there, it may
/// only be read, or this user must not write.
void require_shm_usable(const std::optional<ShmRoom>& room);

/// As require_shm_usable(), and throws EnvironmentError with how much is needed, how much is free,
/// and the cure, if `ranks` ranks of this host find too little room, or too few files, for segments
/// that none of them has opened yet.
void require_shm_room(std::uint32_t ranks, const std::optional<ShmRoom>& room);

/// Whether so little is free that it may be why a rank ended by SIGBUS.
bool is_shm_full(const std::optional<ShmRoom>& room);

/// "8 MiB of its 64 MiB are free; remove what …": the rest of a line about /dev/shm.
std::string shm_room_and_cure(const ShmRoom& room);

}  // namespace slackline::hw
