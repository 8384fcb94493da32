// A run of which nothing is kept but its result: its trace stands in the process that made the run,
// and goes with it.
#pragma once

#include "cli/console.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
#include "cli/simulation_report.h"

namespace slackline::cli {

/// Whether bare_result() says of the run all that there is to say without its trace: its engine
/// runs in a process of its own, nothing can fail, and what the run leaves behind is not looked at.
bool has_bare_result(const SettledRun& settled, const LoadedSchedule& loaded);

/// What result_of() says of the run's trace. Throws what the run and result_of() throw.
SimulationResult bare_result(const SettledRun& settled, Console& console);

}  // namespace slackline::cli
