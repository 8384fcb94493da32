// Whether two processes run the same build: what names of functions (hw/call/function.h) rest on.
#pragma once

#include "sched/digest.h"

namespace slackline::hw {

/// Of the code, as it stands in memory, of the loaded object that begins at `anchor`: the same in
/// every process that runs the same build of it. Throws EnvironmentError if no object does.
sched::Digest code_digest(const char* anchor);

}  // namespace slackline::hw
