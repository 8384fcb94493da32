// Child processes: begun, and waited for.
#pragma once

#include <sys/types.h>

namespace slackline::base {

/// fork(), in the child of which end_with_parent() has been called.
pid_t fork_child() noexcept;

/// Waits until a child has ended, and says how, as waitpid() does; 0 if it is no child of this
/// process.
int wait_for(pid_t child) noexcept;

}  // namespace slackline::base
