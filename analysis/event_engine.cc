#include "analysis/event_engine.h"

#include <vector>

#include "machine/execution.h"

namespace slackline::analysis {
namespace {

using machine::ExecutionEvent;

// The network of a star: a message takes what its bytes take at its rate.
class StarNetwork {
 public:
  explicit StarNetwork(const machine::Platform& platform) : platform_(platform) {}

  void at(double time_s, ExecutionEvent event) { events_.push(time_s, event); }
  void transmit(double now_s, sched::RankId, sched::RankId, std::uint64_t bytes, sched::Rate limit,
                ExecutionEvent event) {
    at(now_s + platform_.transfer_s(bytes, limit), event);
  }

  machine::EventQueue& events() { return events_; }

 private:
  const machine::Platform& platform_;
  machine::EventQueue events_;
};

}  // namespace

sched::Trace run_events(const sched::Schedule& schedule, const machine::Platform& platform,
                        const machine::DelayPlan& plan, machine::IssuePolicy policy) {
  machine::require_executable(schedule, "the event engine");
  const machine::Delays delays(plan, schedule);
  StarNetwork network(platform);
  sched::Trace trace;
  trace.ops.resize(schedule.op_count());
  trace.request_s.resize(machine::request_count(schedule));
  machine::Execution<StarNetwork> execution(schedule, platform, delays, policy, trace.ops,
                                            trace.request_s, network);
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
  trace.contended = execution.shared();
  machine::require_finished(schedule, trace);
  return trace;
}

}  // namespace slackline::analysis
