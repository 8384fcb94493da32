#include "machine/samples.h"

#include <algorithm>

namespace slackline::machine {

std::vector<double> rank_finish_s(const sched::Schedule& schedule,
                                  std::span<const sched::OpTimes> times) {
  std::vector<double> finish_s(schedule.rank_count(), 0);
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    double& end_s = finish_s[schedule.ops()[i].rank.value];
    end_s = std::max(end_s, times[i].done_s);
  }
  return finish_s;
}

Samples samples_of(const TraceSource& source, const sched::Schedule& schedule,
                   const DelayPlan& plan, const SampleRuns& runs) {
  const std::uint32_t ranks = schedule.rank_count();
  PlanRuns plans;
  plans.count = runs.samples;
  plans.jobs = runs.jobs;
  plans.progress = runs.progress;
  plans.plan = [&](std::uint32_t sample) {
    DelayPlan drawn = plan;
    drawn.seed = plan.seed + sample;
    return drawn;
  };
  // The makespan, then when each rank finished.
  const std::uint32_t width = ranks + 1;
  const std::vector<double> kept =
      source(plans, {width, [&](const sched::Trace& trace, std::span<double> row) {
                       row[0] = trace.makespan_s();
                       const std::vector<double> finish_s = rank_finish_s(schedule, trace.ops);
                       std::copy(finish_s.begin(), finish_s.end(), row.begin() + 1);
                     }});
  Samples samples(runs.samples, ranks);
  for (std::uint32_t i = 0; i < runs.samples; ++i) {
    const auto row = kept.begin() + static_cast<std::ptrdiff_t>(std::size_t{i} * width);
    samples.makespan_s[i] = *row;
    std::copy_n(row + 1, ranks, samples.rank_finish_s.begin() + std::size_t{i} * ranks);
  }
  return samples;
}

}  // namespace slackline::machine
