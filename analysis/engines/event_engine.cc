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
#include "machine/run/link_crowding.h"

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
  const std::size_t requests = machine::require_executable(setting.schedule);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  machine::AloneClock clock(paths);
  sched::Trace trace = machine::trace_of(setting, "event");
  // Of what runs several times, or in bundles, the trace does not tell each message.
  const bool is_static = setting.schedule.is_static();
  machine::LinkCrowding crowding(setting, paths, clock);
  machine::DrivenClock& looking = crowding;
  machine::Execution execution(
      setting, delays, paths,
      machine::record_in(trace, setting.schedule, setting.delays.seed, requests),
      is_static ? clock : looking);
  clock.drive(execution);
  trace.contended = is_static ? shares(setting, paths, trace, execution.shared())
                              : crowding.found(execution.shared());
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
