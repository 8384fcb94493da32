#include "machine/samples.h"

#include <algorithm>
#include <numeric>

namespace slackline::machine {

std::vector<double> rank_finish_s(const sched::Schedule& schedule,
                                  std::span<const sched::OpTimes> times) {
  std::vector<double> finish_s(schedule.rank_count(), 0);
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    const sched::RankId rank(r);
    const std::size_t end = std::min<std::size_t>(times.size(), schedule.end_op(rank).value);
    for (std::size_t i = schedule.first_op(rank).value; i < end; ++i) {
      finish_s[r] = std::max(finish_s[r], times[i].done_s);
    }
  }
  return finish_s;
}

Samples samples_of(const TraceSource& source, const sched::Schedule& schedule,
                   const DelayPlan& plan, const SampleRuns& runs) {
  Samples samples(runs.samples, schedule.rank_count());
  std::vector<std::uint32_t> all(runs.samples);
  std::iota(all.begin(), all.end(), 0u);
  run_samples(source, schedule, plan, runs, all, samples);
  return samples;
}

void run_samples(const TraceSource& source, const sched::Schedule& schedule, const DelayPlan& plan,
                 const SampleRuns& runs, std::span<const std::uint32_t> which, Samples& samples) {
  const std::uint32_t ranks = schedule.rank_count();
  PlanRuns plans;
  plans.count = static_cast<std::uint32_t>(which.size());
  plans.jobs = runs.jobs;
  if (runs.progress) {
    const std::uint32_t before = runs.samples - plans.count;
    plans.progress = [&runs, before](std::uint32_t done) { runs.progress(before + done); };
  }
  plans.plan = [&](std::uint32_t i) {
    DelayPlan drawn = plan;
    drawn.seed = plan.seed + which[i];
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
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto row = kept.begin() + static_cast<std::ptrdiff_t>(i * width);
    samples.makespan_s[which[i]] = *row;
    std::copy_n(
        row + 1, ranks,
        samples.rank_finish_s.begin() + static_cast<std::ptrdiff_t>(std::size_t{which[i]} * ranks));
  }
}

}  // namespace slackline::machine
