#include "analysis/event_engine.h"

#include <vector>

#include "analysis/link_load.h"
#include "machine/run/execution.h"

namespace slackline::analysis {
namespace {

using machine::ExecutionEvent;

// A network in which every message has its way to itself.
class FreeNetwork {
 public:
  explicit FreeNetwork(const machine::Paths& paths) : paths_(paths) {}

  void at(double time_s, ExecutionEvent event) { events_.push(time_s, event); }
  void transmit(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op) {
    const double sent_s = paths_.sent_s(now_s, path, bytes);
    const double cut_s = paths_[path].cut_s;
    const bool cut = sent_s + machine::kInstant_s > cut_s;
    at(cut ? cut_s : sent_s, {op, cut ? ExecutionEvent::Kind::kLost : ExecutionEvent::Kind::kSent});
  }

  machine::EventQueue& events() { return events_; }

 private:
  const machine::Paths& paths_;
  machine::EventQueue events_;
};

}  // namespace

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
  FreeNetwork network(paths);
  sched::Trace trace;
  machine::Execution<FreeNetwork> execution(schedule, platform, delays, paths, order,
                                            machine::record_in(trace, schedule, plan.seed),
                                            network);
  execution.start();
  std::vector<ExecutionEvent> events;
  while (!network.events().empty()) {
    const double now_s = network.events().pop_instant(events);
    execution.instant(now_s, events);
  }
  trace.schedule = schedule.digest();
  trace.platform = platform.spec();
  trace.delays = plan.text();
  trace.engine = "event";
  trace.contended = shares(schedule, platform, wiring, paths, trace, execution.shared());
  machine::require_finished(schedule, trace, paths);
  return trace;
}

}  // namespace slackline::analysis
