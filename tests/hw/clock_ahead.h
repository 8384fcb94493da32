// A rank whose clock differs from the others' of its host, as another host's does.
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <fstream>

#include "tests/hw/mesh_ranks.h"

namespace slackline::testing {

inline constexpr const char* kNoClocks = "no time namespaces: they need root and Linux 5.6";

/// The body of a rank whose monotonic clock is 100 s ahead; says kNoClocks where none can be had.
inline MeshRanks::Body with_clock_ahead(MeshRanks::Body body) {
  return [body](const hw::MeshOptions& own, const MeshRanks::Say& say) {
    // The children of who asks have the clock, itself has not.
    if (unshare(CLONE_NEWTIME) != 0) return say(kNoClocks);
    std::ofstream offsets("/proc/self/timens_offsets");
    offsets << "monotonic 100 0" << std::endl;
    if (!offsets) return say(kNoClocks);
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      try {
        body(own, say);
      } catch (const std::exception& error) {
        say(error.what());
      }
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  };
}

}  // namespace slackline::testing
