#include "base/end_with_parent.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace slackline::sched {

void end_with_parent(pid_t parent) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A parent that ended before the line above is one of whose end nobody tells us.
  if (::getppid() != parent) ::_exit(1);
}

}  // namespace slackline::sched
