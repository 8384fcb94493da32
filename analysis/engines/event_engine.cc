#include "analysis/engines/event_engine.h"

#include <optional>
#include <string>

#include "analysis/engines/link_load.h"
#include "analysis/engines/plan_runs.h"
#include "base/error.h"
#include "machine/congestion.h"
#include "machine/run/alone_clock.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"

namespace slackline::analysis {

namespace {

std::optional<std::string> why_refused(const machine::Setting& setting) {
  if (auto why = machine::why_no_congestion(setting.platform)) return why;
  if (setting.platform.topology.routing.kind != machine::Routing::Kind::kAdaptive) {
    return std::nullopt;
  }
  return "routing=adaptive goes by what shares the links, which this engine leaves out; expected "
         "--engine flow or simgrid";
}

}  // namespace

sched::Trace run_events(const machine::Setting& setting) {
  if (const auto why = why_refused(setting)) throw Unsupported(*why);
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
    .refusal = why_refused,
};

}  // namespace slackline::analysis
