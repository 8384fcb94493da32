#include "base/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/end_with_parent.h"

namespace slackline::base {

pid_t fork_child() noexcept {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) sched::end_with_parent(parent);
  return child;
}

int wait_for(pid_t child) noexcept {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace slackline::base
