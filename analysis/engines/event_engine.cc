#include "analysis/engines/event_engine.h"

#include "analysis/engines/link_load.h"
#include "machine/run/alone_clock.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"

namespace slackline::analysis {

sched::Trace run_events(const sched::Schedule& schedule, const machine::Platform& platform,
                        const machine::DelayPlan& plan, const machine::IssueOrder& order) {
  return run_events(schedule, platform, machine::Wiring(platform, schedule.rank_count()), plan,
                    order);
}

sched::Trace run_events(const sched::Schedule& schedule, const machine::Platform& platform,
                        const machine::Wiring& wiring, const machine::DelayPlan& plan,
                        const machine::IssueOrder& order) {
  machine::require_executable(schedule);
  const machine::Delays delays(plan, schedule, platform);
  const machine::Paths paths(schedule, wiring, plan);
  machine::AloneClock clock(paths);
  sched::Trace trace = machine::trace_of(schedule, platform, plan, "event");
  machine::Execution execution(schedule, platform, delays, paths, order,
                               machine::record_in(trace, schedule, plan.seed), clock);
  clock.drive(execution);
  trace.contended = shares(schedule, platform, wiring, paths, trace, execution.shared());
  machine::require_finished(schedule, trace, paths);
  return trace;
}

}  // namespace slackline::analysis
