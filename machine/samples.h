// What many runs of one schedule came to, each with its own draws of the delay plan's noise.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/plan_runs.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// How samples are run. Sample i draws with seed `plan.seed + i`, so that any of them can be run
/// again alone; results do not depend on `jobs`.
struct SampleRuns {
  std::uint32_t samples = 1;
  std::uint32_t jobs = 1;  // at a time
  /// Told now and then how many samples are done, by the calling thread. May be empty.
  std::function<void(std::uint32_t done)> progress;
};

/// Times are infinite where a failure kept a rank from finishing.
struct Samples {
  std::uint32_t ranks = 0;
  std::vector<double> makespan_s;     // of every sample
  std::vector<double> rank_finish_s;  // of every sample, its ranks

  Samples(std::uint32_t samples, std::uint32_t rank_count)
      : ranks(rank_count), makespan_s(samples), rank_finish_s(std::size_t{samples} * rank_count) {}
  std::span<const double> finish_s(std::uint32_t sample) const {
    return std::span(rank_finish_s).subspan(std::size_t{sample} * ranks, ranks);
  }
};

/// Runs `plan` once per sample.
Samples samples_of(const TraceSource& source, const sched::Schedule& schedule,
                   const DelayPlan& plan, const SampleRuns& runs);
/// Only the samples `which`, into their places in `samples`.
void run_samples(const TraceSource& source, const sched::Schedule& schedule, const DelayPlan& plan,
                 const SampleRuns& runs, std::span<const std::uint32_t> which, Samples& samples);

/// When each rank is done with all it has to do; 0 for one that has nothing to.
std::vector<double> rank_finish_s(const sched::Schedule& schedule,
                                  std::span<const sched::OpTimes> times);

}  // namespace slackline::machine
