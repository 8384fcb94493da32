#include "analysis/engines/plan_runs.h"

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/in_threads.h"

namespace slackline::analysis {
namespace {

// `run` answers with the trace of a plan.
template <class Run>
std::vector<double> run_plans(const machine::PlanRuns& runs, const machine::TraceReading& reading,
                              Run&& run) {
  std::vector<double> kept(std::size_t{runs.count} * reading.width);
  in_threads(
      runs.count, runs.jobs,
      [&](std::uint32_t i) {
        reading.read(run(runs.plan(i)),
                     std::span(kept).subspan(std::size_t{i} * reading.width, reading.width));
      },
      runs.progress);
  return kept;
}

}  // namespace

std::vector<double> run_analytic_plans(const sched::Schedule& schedule,
                                       const machine::Platform& platform,
                                       const machine::Wiring& wiring,
                                       const machine::IssueOrder& order,
                                       const machine::PlanRuns& runs,
                                       const machine::TraceReading& reading) {
  return run_plans(runs, reading, [&](const machine::DelayPlan& plan) {
    return run_analytic(schedule, platform, wiring, plan, order);
  });
}

std::vector<double> run_event_plans(const sched::Schedule& schedule,
                                    const machine::Platform& platform,
                                    const machine::Wiring& wiring, const machine::IssueOrder& order,
                                    const machine::PlanRuns& runs,
                                    const machine::TraceReading& reading) {
  return run_plans(runs, reading, [&](const machine::DelayPlan& plan) {
    return run_events(schedule, platform, wiring, plan, order);
  });
}

std::vector<double> run_flow_plans(const sched::Schedule& schedule,
                                   const machine::Platform& platform, const machine::Wiring& wiring,
                                   const machine::IssueOrder& order, const machine::PlanRuns& runs,
                                   const machine::TraceReading& reading) {
  return run_plans(runs, reading, [&](const machine::DelayPlan& plan) {
    return run_flows(schedule, platform, wiring, plan, order);
  });
}

}  // namespace slackline::analysis
