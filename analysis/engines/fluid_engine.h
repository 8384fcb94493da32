// Runs a schedule by discrete events in which large messages meet queues, marks and pauses.
#pragma once

#include <vector>

#include "analysis/engines/fluid_series.h"
#include "analysis/engines/link_congestion.h"
#include "machine/engine.h"

namespace slackline::analysis {

/// Follows the machine model (docs/architecture.md) with fair NICs; large messages go by the fluid
/// model of docs/congestion.md. Where the platform's congestion is off there are no queues, and the
/// flow engine answers. Throws Unsupported for what why_refused() of the engine says, InputError
/// for schedules that cannot finish, also because PFC stops them for ever.
sched::Trace run_fluid(const machine::Setting& setting);

/// The same, and what became of every link of the wiring; nothing where the flow engine answers.
struct FluidRun {
  sched::Trace trace;
  std::vector<LinkCongestion> links;
};
/// `series`, if one is given, is told of each step.
FluidRun run_fluid_with_links(const machine::Setting& setting, FluidSeries* series = nullptr);

extern const machine::Engine kFluidEngine;

}  // namespace slackline::analysis
