#include "analysis/engines/event_engine.h"

#include "analysis/engines/link_load.h"
#include "analysis/engines/plan_runs.h"
#include "machine/run/alone_clock.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"

namespace slackline::analysis {

sched::Trace run_events(const machine::Setting& setting) {
  machine::require_executable(setting.schedule);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  machine::AloneClock clock(paths);
  sched::Trace trace = machine::trace_of(setting, "event");
  machine::Execution execution(setting, delays, paths,
                               machine::record_in(trace, setting.schedule, setting.delays.seed),
                               clock);
  clock.drive(execution);
  trace.contended = shares(setting, paths, trace, execution.shared());
  machine::require_finished(setting.schedule, trace, paths);
  return trace;
}

const machine::Engine kEventEngine{
    .name = "event",
    .summary = "event by event; each message has its links to itself",
    .run_once = run_events,
    .run_plans = plans_in_threads<run_events>,
};

}  // namespace slackline::analysis
