#include "analysis/event_engine.h"

#include <algorithm>
#include <vector>

#include "machine/execution.h"

namespace slackline::analysis {
namespace {

using machine::ExecutionEvent;

// The network of a star: a message takes what its bytes take at its rate.
class StarNetwork {
 public:
  explicit StarNetwork(const machine::Platform& platform) : platform_(platform) {}

  void at(double time_s, ExecutionEvent event) {
    heap_.push_back({time_s, event});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void transmit(double now_s, sched::RankId, sched::RankId, std::uint64_t bytes, sched::Rate limit,
                ExecutionEvent event) {
    at(now_s + platform_.transfer_s(bytes, limit), event);
  }

  bool empty() const { return heap_.empty(); }

  // The next instant's events; returns its time.
  double next(std::vector<ExecutionEvent>& events) {
    events.clear();
    const double now_s = heap_.front().time_s;
    while (!heap_.empty() && heap_.front().time_s < now_s + machine::kInstant_s) {
      events.push_back(heap_.front().event);
      std::pop_heap(heap_.begin(), heap_.end(), later);
      heap_.pop_back();
    }
    return now_s;
  }

 private:
  struct Timer {
    double time_s;
    ExecutionEvent event;
  };
  static bool later(const Timer& a, const Timer& b) { return a.time_s > b.time_s; }

  const machine::Platform& platform_;
  std::vector<Timer> heap_;
};

}  // namespace

sched::Trace run_events(const sched::Schedule& schedule, const machine::Platform& platform,
                        const machine::DelayPlan& plan, machine::IssuePolicy policy) {
  machine::require_executable(schedule, "the event engine");
  const machine::Delays delays(plan, schedule);
  StarNetwork network(platform);
  sched::Trace trace;
  trace.ops.resize(schedule.op_count());
  machine::Execution<StarNetwork> execution(schedule, platform, delays, policy, trace.ops, network);
  execution.start();
  std::vector<ExecutionEvent> events;
  while (!network.empty()) {
    const double now_s = network.next(events);
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
