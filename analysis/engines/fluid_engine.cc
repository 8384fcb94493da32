#include "analysis/engines/fluid_engine.h"

#include <optional>
#include <string>

#include "analysis/engines/flow_engine.h"
#include "analysis/engines/fluid_clock.h"
#include "analysis/engines/plan_runs.h"
#include "base/error.h"
#include "machine/congestion.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"

namespace slackline::analysis {
namespace {

std::optional<std::string> why_refused(const machine::Setting& setting) {
  if (!setting.platform.congestion.any()) return std::nullopt;
  if (!setting.delays.failures.empty()) {
    return "the fluid engine: a delay plan with failures, whose messages would be lost in queues; "
           "expected none on a platform with congestion";
  }
  if (!setting.delays.pairs.empty()) {
    return "the fluid engine: a delay plan with rates of pairs, where queue pairs have rates of "
           "their own; expected none on a platform with congestion";
  }
  return std::nullopt;
}

std::string drive_fluid(const machine::Setting& setting, const machine::Paths& paths,
                        const machine::MakeRun& make) {
  machine::require_no_congestion(setting.platform, "a run of other messages");
  return kFlowEngine.drive(setting, paths, make);
}

}  // namespace

FluidRun run_fluid_with_links(const machine::Setting& setting, FluidSeries* series) {
  if (!setting.platform.congestion.any()) return {run_flows(setting), {}};
  if (const auto why = why_refused(setting)) throw Unsupported(*why);
  machine::require_executable(setting.schedule);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  FluidClock clock(setting, paths);
  clock.tell(series);
  FluidRun run{machine::trace_of(setting, "fluid"), {}};
  machine::Execution execution(setting, delays, paths,
                               machine::record_in(run.trace, setting.schedule, setting.delays.seed),
                               clock);
  clock.drive(execution);
  machine::require_finished(setting.schedule, run.trace, paths);
  run.links = clock.network().figures();
  return run;
}

sched::Trace run_fluid(const machine::Setting& setting) {
  return run_fluid_with_links(setting).trace;
}

const machine::Engine kFluidEngine{
    .name = "fluid",
    .summary = "queues, marks and pauses where the platform's congestion has them",
    .shares_links = true,
    .run_once = run_fluid,
    .run_plans = plans_in_threads<run_fluid>,
    .drive_run = drive_fluid,
    .refusal = why_refused,
};

}  // namespace slackline::analysis
