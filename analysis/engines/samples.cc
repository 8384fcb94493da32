#include "analysis/engines/samples.h"

#include <algorithm>
#include <numeric>

#include "analysis/engines/analytic.h"
#include "analysis/engines/plan_runs.h"
#include "analysis/in_threads.h"

namespace slackline::analysis {

machine::Samples run_analytic_samples(const sched::Schedule& schedule,
                                      const machine::Platform& platform,
                                      const machine::DelayPlan& plan,
                                      const machine::IssueOrder& order,
                                      const machine::SampleRuns& runs) {
  return run_analytic_samples(schedule, platform, machine::Wiring(platform, schedule.rank_count()),
                              plan, order, runs);
}

machine::Samples run_analytic_samples(const sched::Schedule& schedule,
                                      const machine::Platform& platform,
                                      const machine::Wiring& wiring, const machine::DelayPlan& plan,
                                      const machine::IssueOrder& order,
                                      const machine::SampleRuns& runs) {
  machine::Samples result(runs.samples, schedule.rank_count());
  std::vector<std::uint32_t> all(runs.samples);
  std::iota(all.begin(), all.end(), 0u);
  run_analytic_samples(schedule, platform, wiring, plan, order, runs, all, result);
  return result;
}

void run_analytic_samples(const sched::Schedule& schedule, const machine::Platform& platform,
                          const machine::Wiring& wiring, const machine::DelayPlan& plan,
                          const machine::IssueOrder& order, const machine::SampleRuns& runs,
                          std::span<const std::uint32_t> which, machine::Samples& result) {
  const auto run = [&](std::uint32_t i) {
    const std::uint32_t sample = which[i];
    machine::DelayPlan drawn = plan;
    drawn.seed = plan.seed + sample;
    const sched::Trace trace = run_analytic(schedule, platform, wiring, drawn, order);
    const std::vector<double> finish_s = machine::rank_finish_s(schedule, trace.ops);
    result.makespan_s[sample] = trace.makespan_s();
    std::copy(finish_s.begin(), finish_s.end(),
              result.rank_finish_s.begin() + std::size_t{sample} * schedule.rank_count());
  };
  const auto before = runs.samples - static_cast<std::uint32_t>(which.size());
  in_threads(static_cast<std::uint32_t>(which.size()), runs.jobs, run, [&](std::uint32_t done) {
    if (runs.progress) runs.progress(before + done);
  });
}

machine::Samples run_event_samples(const sched::Schedule& schedule,
                                   const machine::Platform& platform, const machine::Wiring& wiring,
                                   const machine::DelayPlan& plan, const machine::IssueOrder& order,
                                   const machine::SampleRuns& runs) {
  return machine::samples_of(
      [&](const machine::PlanRuns& plans, const machine::TraceReading& reading) {
        return run_event_plans(schedule, platform, wiring, order, plans, reading);
      },
      schedule, plan, runs);
}

machine::Samples run_flow_samples(const sched::Schedule& schedule,
                                  const machine::Platform& platform, const machine::Wiring& wiring,
                                  const machine::DelayPlan& plan, const machine::IssueOrder& order,
                                  const machine::SampleRuns& runs) {
  return machine::samples_of(
      [&](const machine::PlanRuns& plans, const machine::TraceReading& reading) {
        return run_flow_plans(schedule, platform, wiring, order, plans, reading);
      },
      schedule, plan, runs);
}

}  // namespace slackline::analysis
