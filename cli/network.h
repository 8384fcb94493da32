// The network that a schedule runs on, whoever has to read it.
#pragma once

#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::cli {

/// The platform's wiring with the routes that the schedule's messages take. Throws what
/// machine::Wiring and sim::wiring_of() do; EnvironmentError for a SimGrid file in a build without
/// SimGrid.
machine::Wiring wiring_of(const machine::Platform& platform, const sched::Schedule& schedule);

}  // namespace slackline::cli
