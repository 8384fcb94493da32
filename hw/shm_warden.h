// Who removes what a run leaves in shared memory when all of its processes are killed at once: a
// process that does nothing but wait for their end.
#pragma once

#include <sys/types.h>

#include "hw/descriptor.h"

namespace slackline::hw {

/// Ranks announce themselves to it. When they and the process that made it have ended, however that
/// was, it removes their segments from /dev/shm, and ends. It is in a session of its own, so that
/// it does not hear what is sent to the run's process group, and holds none of the run's files.
class ShmWarden {
 public:
  /// Call it before there are threads, and before those are forked who announce themselves. Throws
  /// EnvironmentError if the system starts no more.
  ShmWarden();
  /// Returns when the warden has ended: the processes that were announced, but for this one, must
  /// have.
  ~ShmWarden();
  ShmWarden(const ShmWarden&) = delete;
  ShmWarden& operator=(const ShmWarden&) = delete;

  /// This process, or a fork of it: before it opens its first segment.
  void announce() const;

 private:
  void tell(pid_t pid) const;

  Descriptor life_;  // open as long as anybody lives
  pid_t pid_ = -1;
};

}  // namespace slackline::hw
