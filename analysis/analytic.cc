#include "analysis/analytic.h"

#include "analysis/event_engine.h"
#include "analysis/longest_path.h"

namespace slackline::analysis {

sched::Trace run_analytic(const sched::Schedule& schedule, const machine::Platform& platform,
                          const machine::DelayPlan& delays, const machine::IssueOrder& order) {
  return run_analytic(schedule, platform, machine::Wiring(platform, schedule.rank_count()), delays,
                      order);
}

sched::Trace run_analytic(const sched::Schedule& schedule, const machine::Platform& platform,
                          const machine::Wiring& wiring, const machine::DelayPlan& delays,
                          const machine::IssueOrder& order) {
  if (order.is_program_order()) {
    if (auto trace = longest_path(schedule, platform, wiring, delays)) return *std::move(trace);
  }
  return run_events(schedule, platform, wiring, delays, order);
}

}  // namespace slackline::analysis
