#include "tests/exact/exact_run.h"

#include "machine/delays.h"
#include "machine/paths.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"
#include "tests/exact/exact_clock.h"

namespace slackline::testing {

sched::Trace run_exactly(const machine::Setting& setting) {
  machine::require_executable(setting.schedule);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  sched::Trace trace = machine::trace_of(setting, "exact");
  const machine::RunRecord record =
      machine::record_in(trace, setting.schedule, setting.delays.seed);
  ExactClock clock(setting, paths, trace.ops);
  machine::Execution execution(setting, delays, paths, record, clock);
  clock.drive(execution);
  machine::require_finished(setting.schedule, trace, paths);
  return trace;
}

}  // namespace slackline::testing
