// The engines that answer how long a schedule takes, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/driven_run.h"
#include "machine/issue_policy.h"
#include "machine/paths.h"
#include "machine/plan_runs.h"
#include "machine/platform.h"
#include "machine/samples.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::cli {

struct EngineEntry {
  std::string_view name;
  bool shares;  // links and fair NICs; the others leave that out
  sched::Trace (*run)(const sched::Schedule&, const machine::Platform&, const machine::Wiring&,
                      const machine::DelayPlan&, const machine::IssueOrder&);
  machine::Samples (*run_samples)(const sched::Schedule&, const machine::Platform&,
                                  const machine::Wiring&, const machine::DelayPlan&,
                                  const machine::IssueOrder&, const machine::SampleRuns&);
  std::vector<double> (*run_plans)(const sched::Schedule&, const machine::Platform&,
                                   const machine::Wiring&, const machine::IssueOrder&,
                                   const machine::PlanRuns&, const machine::TraceReading&);
  /// Of another run of a schedule's messages (machine/driven_run.h).
  std::string (*drive)(const sched::Schedule&, const machine::Platform&, const machine::Wiring&,
                       const machine::Paths&, const machine::MakeRun&);
};

/// Every engine of this build.
std::span<const EngineEntry> engines();

/// Throws InputError on an unknown name, EnvironmentError on one that this build was made without;
/// both name the option that it was given to.
const EngineEntry& engine_named(std::string_view name, std::string_view option = "--engine");

}  // namespace slackline::cli
