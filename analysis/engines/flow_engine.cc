#include "analysis/engines/flow_engine.h"

#include <memory>

#include "analysis/engines/flow_clock.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"

namespace slackline::analysis {

sched::Trace run_flows(const sched::Schedule& schedule, const machine::Platform& platform,
                       const machine::Wiring& wiring, const machine::DelayPlan& plan,
                       const machine::IssueOrder& order) {
  machine::require_executable(schedule);
  const machine::Delays delays(plan, schedule, platform);
  const machine::Paths paths(schedule, wiring, plan);
  FlowClock clock(paths, wiring);
  sched::Trace trace = machine::trace_of(schedule, platform, plan, "flow");
  machine::Execution execution(schedule, platform, delays, paths, order,
                               machine::record_in(trace, schedule, plan.seed), clock);
  clock.drive(execution);
  machine::require_finished(schedule, trace, paths);
  return trace;
}

std::string drive_flows(const machine::Wiring& wiring, const machine::Paths& paths,
                        const machine::MakeRun& make) {
  FlowClock clock(paths, wiring);
  const std::unique_ptr<machine::DrivenRun> run = make(clock);
  clock.drive(*run);
  return run->result();
}

}  // namespace slackline::analysis
