// What a killed process leaves in shared memory. libfabric's shm keeps a segment per endpoint in
// /dev/shm, and removes it when the endpoint is closed: who is killed does not. Segments have the
// names of hw/shm_name.h, or libfabric's own PID:UID:N where it takes no other.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>

#include "hw/mesh.h"

namespace slackline::hw {

/// Whether the process is no more, or only its exit status is still to be fetched.
bool has_ended(pid_t pid);

/// Removes the segments of a process of this user that has ended, or does so within `patience`;
/// answers how many. Nothing of processes that live, or of other users. Never fails.
std::size_t remove_shm_segments(pid_t pid, std::chrono::milliseconds patience);

/// Removes what any Slackline of this user left that has ended: a run of which all processes were
/// killed, say. Nothing of other programs, of whose segments the name does not say when their
/// process began. Answers how many. Never fails.
std::size_t remove_shm_segments_of_dead();

/// Removes this process's own, for one that ends without closing its endpoints. Never fails.
std::size_t remove_own_shm_segments();

/// The first for every other rank that is lost and was on this host. A rank's connection ends a
/// little before its process does: hence the patience. Without patience for ranks that have left.
std::size_t remove_shm_segments_of_lost(
    const Mesh& mesh, std::chrono::milliseconds patience = std::chrono::milliseconds(500));

}  // namespace slackline::hw
