// Runs whose messages share links: by SimGrid.
#pragma once

#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::experiments {

/// Throws EnvironmentError, with the cure, if Slackline was built without SimGrid.
sched::Trace run_contended(const machine::Setting& setting);

}  // namespace slackline::experiments
