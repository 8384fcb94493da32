#include "analysis/plan_runs.h"

#include "analysis/analytic.h"
#include "analysis/in_threads.h"

namespace slackline::analysis {

std::vector<double> run_analytic_plans(const sched::Schedule& schedule,
                                       const machine::Platform& platform,
                                       const machine::Wiring& wiring,
                                       const machine::IssueOrder& order,
                                       const machine::PlanRuns& runs,
                                       const machine::TraceReading& reading) {
  std::vector<double> kept(std::size_t{runs.count} * reading.width);
  in_threads(
      runs.count, runs.jobs,
      [&](std::uint32_t i) {
        const sched::Trace trace = run_analytic(schedule, platform, wiring, runs.plan(i), order);
        reading.read(trace, std::span(kept).subspan(std::size_t{i} * reading.width, reading.width));
      },
      runs.progress);
  return kept;
}

}  // namespace slackline::analysis
