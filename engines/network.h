// The network that a schedule runs on, whoever has to read it.
#pragma once

#include <cstdint>

#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::engines {

/// The platform's wiring with the routes that the schedule's messages take. Throws what
/// machine::Wiring and sim::wiring_of() do; EnvironmentError for a SimGrid file in a build without
/// SimGrid.
machine::Wiring wiring_of(const machine::Platform& platform, const sched::Schedule& schedule);

/// The same between every two of so many ranks.
machine::Wiring wiring_of_ranks(const machine::Platform& platform, std::uint32_t ranks);

}  // namespace slackline::engines
