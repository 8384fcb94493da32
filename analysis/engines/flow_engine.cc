#include "analysis/engines/flow_engine.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/engines/delayed_runs.h"
#include "analysis/engines/flow_clock.h"
#include "analysis/engines/plan_runs.h"
#include "base/error.h"
#include "machine/congestion.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"

namespace slackline::analysis {
namespace {

std::optional<std::string> why_refused(const machine::Setting& setting) {
  return machine::why_no_congestion(setting.platform);
}

std::string drive_flows(const machine::Setting& setting, const machine::Paths& paths,
                        const machine::MakeRun& make) {
  if (const auto why = why_refused(setting)) throw Unsupported(*why);
  FlowClock clock(paths, setting);
  const std::unique_ptr<machine::DrivenRun> run = make(clock);
  clock.drive(*run);
  return run->result();
}

std::vector<double> run_delayed_flows(const machine::Setting& setting,
                                      std::span<const machine::OpDelay> delays,
                                      const machine::PlanRuns& runs,
                                      const machine::TraceReading& reading) {
  return DelayedRuns(setting).runs(delays, runs, reading);
}

}  // namespace

sched::Trace run_flows(const machine::Setting& setting) {
  if (const auto why = why_refused(setting)) throw Unsupported(*why);
  const std::size_t requests = machine::require_executable(setting.schedule);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  FlowClock clock(paths, setting);
  sched::Trace trace = machine::trace_of(setting, "flow");
  machine::Execution execution(
      setting, delays, paths,
      machine::record_in(trace, setting.schedule, setting.delays.seed, requests), clock);
  clock.drive(execution);
  machine::require_finished(setting.schedule, trace, paths);
  return trace;
}

const machine::Engine kFlowEngine{
    .name = "flow",
    .summary = "max-min fair shares of links, in this process and on all cores",
    .shares_links = true,
    .run_once = run_flows,
    .run_plans = plans_in_threads<run_flows>,
    .run_delayed = run_delayed_flows,
    .drive_run = drive_flows,
    .refusal = why_refused,
};

}  // namespace slackline::analysis
