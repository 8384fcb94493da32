// How often each operation decides when a noisy run ends.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/slack/wire_times.h"
#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "machine/samples.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

struct Criticality {
  std::vector<std::uint32_t> of_op;    // samples with the operation on their critical path
  std::vector<std::uint32_t> of_rank;  // … with any operation of the rank
  std::vector<double> makespan_s;      // of every sample
};

/// Runs a plan: an engine with everything else settled. Called by `runs.jobs` threads at a time.
using RunPlan = std::function<sched::Trace(const machine::DelayPlan&)>;

/// Over `runs.samples` runs; sample i draws with seed `plan.seed + i`. The result does not depend
/// on `runs.jobs`. Throws InputError on a run that a failure kept from its end, and what `run`
/// throws; of several, the first sample's.
Criticality criticality(const sched::Schedule& schedule, const machine::Platform& platform,
                        const machine::Wiring& wiring, const machine::DelayPlan& plan,
                        const RunPlan& run, WireTimes wire, const machine::SampleRuns& runs);

}  // namespace slackline::analysis
