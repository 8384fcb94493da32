#include "analysis/samples.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "analysis/analytic.h"

namespace slackline::analysis {

machine::Samples run_analytic_samples(const sched::Schedule& schedule,
                                      const machine::Platform& platform,
                                      const machine::Wiring& wiring, const machine::DelayPlan& plan,
                                      const machine::IssueOrder& order,
                                      const machine::SampleRuns& runs) {
  machine::Samples result(runs.samples, schedule.rank_count());
  std::atomic<std::uint32_t> next{0};
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  std::uint32_t done = 0;
  std::uint32_t working = std::min(std::max(1u, runs.jobs), runs.samples);
  std::vector<std::exception_ptr> errors(runs.samples);

  const auto work = [&] {
    machine::DelayPlan drawn = plan;
    for (std::uint32_t i = next++; i < runs.samples; i = next++) {
      try {
        drawn.seed = plan.seed + i;
        const sched::Trace trace = run_analytic(schedule, platform, wiring, drawn, order);
        const std::vector<double> finish_s = machine::rank_finish_s(schedule, trace.ops);
        result.makespan_s[i] = trace.makespan_s();
        std::copy(finish_s.begin(), finish_s.end(),
                  result.rank_finish_s.begin() + std::size_t{i} * schedule.rank_count());
      } catch (...) {
        errors[i] = std::current_exception();
        next = runs.samples;
      }
      const std::lock_guard lock(mutex);
      ++done;
      changed.notify_one();
    }
    const std::lock_guard lock(mutex);
    --working;
    changed.notify_one();
  };

  std::vector<std::thread> threads;
  for (std::uint32_t t = working; t > 0; --t) threads.emplace_back(work);
  {
    std::unique_lock lock(mutex);
    while (working > 0) {
      changed.wait_for(lock, std::chrono::milliseconds(100));
      if (runs.progress) runs.progress(done);
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return result;
}

}  // namespace slackline::analysis
