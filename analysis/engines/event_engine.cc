#include "analysis/engines/event_engine.h"

#include <optional>
#include <string>

#include "analysis/engines/link_crowding.h"
#include "analysis/engines/link_load.h"
#include "analysis/engines/plan_runs.h"
#include "base/error.h"
#include "machine/run/alone_clock.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"

namespace slackline::analysis {

namespace {

std::optional<std::string> why_refused(const machine::Setting& setting) {
  if (setting.platform.topology.routing.kind != machine::Routing::Kind::kAdaptive) {
    return std::nullopt;
  }
  return "routing=adaptive goes by what shares the links, which this engine leaves out; expected "
         "--engine flow or simgrid";
}

// The clock of each message alone, which tells what it carries.
class ToldClock final : public machine::DrivenClock {
 public:
  ToldClock(machine::AloneClock& clock, const machine::Paths& paths, LinkCrowding& crowding)
      : clock_(clock), paths_(paths), crowding_(crowding) {}
  void at(double time_s, machine::ExecutionEvent event) override { clock_.at(time_s, event); }
  void transmit(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op) override {
    crowding_.begin(path, bytes, now_s, paths_.sent_s(now_s, path, bytes));
    clock_.transmit(now_s, path, bytes, op);
  }

 private:
  machine::AloneClock& clock_;
  const machine::Paths& paths_;
  LinkCrowding& crowding_;
};

}  // namespace

sched::Trace run_events(const machine::Setting& setting) {
  if (const auto why = why_refused(setting)) throw Unsupported(*why);
  machine::require_executable(setting.schedule);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  machine::AloneClock clock(paths);
  sched::Trace trace = machine::trace_of(setting, "event");
  // Of what runs several times, or in bundles, the trace does not tell each message.
  const bool is_static = setting.schedule.is_static();
  LinkCrowding crowding(setting, paths);
  ToldClock told(clock, paths, crowding);
  machine::DrivenClock& telling = told;
  machine::Execution execution(setting, delays, paths,
                               machine::record_in(trace, setting.schedule, setting.delays.seed),
                               is_static ? clock : telling);
  clock.drive(execution);
  const bool has_nics =
      setting.platform.topology.kind() != machine::TopologyKind::kSimgridFile;
  trace.contended = is_static ? shares(setting, paths, trace, execution.shared())
                              : (has_nics && execution.shared()) || crowding.found();
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
