// Something done in a forked child, and how that ended.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/end_with_parent.h"

namespace slackline::testing {

/// The status of waitpid() for a child that does `body` and, if that returns, ends with 0.
inline int ending_of_child(const std::function<void()>& body) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    sched::end_with_parent(parent);
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace slackline::testing
