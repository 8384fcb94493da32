// Child processes that do not outlive who forked them.
#pragma once

#include <sys/types.h>

namespace slackline::sched {

/// For a child to call right after its fork: the kernel ends it (SIGKILL) as soon as its parent
/// ends, whatever ends that, also after an exec. `parent` is what getpid() said before the fork; if
/// that process has ended already, this one ends here. The kernel takes the thread that forked for
/// the parent, so that thread must stay as long as the child shall. A child's own children need
/// a call of their own.
void end_with_parent(pid_t parent) noexcept;

}  // namespace slackline::sched
