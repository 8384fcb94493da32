// sweep_throughput STUDY FOLDER [JOBS]: a study's points answered in a loop of this process, and
// then by a sweep into the folder, which must have none of them: seconds of each, and the loop's
// share of the sweep's processors.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "sweep/sweep.h"

int main(int argc, char** argv) {
  using namespace slackline::sweep;
  if (argc < 3) {
    fmt::print(stderr, "usage: sweep_throughput STUDY FOLDER [JOBS]\n");
    return 2;
  }
  const Study study = load_study(argv[1]);
  const auto jobs = static_cast<std::uint32_t>(argc > 3 ? std::atoi(argv[3]) : 1);
  const auto seconds_of = [](const auto& work) {
    const auto begun = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  double sum_s = 0;
  const double loop_s = seconds_of([&] {
    PointRunner runner;
    for (const Point& point : study.points) sum_s += runner.answer(point).makespan_s.at(0);
  });
  SweepRuns runs;
  runs.jobs = jobs;
  const double sweep_s = seconds_of([&] { sweep(study, argv[2], runs); });
  fmt::print("{} points: loop {:.3f} s, sweep of {} {:.3f} s: {:.3f} of the loop's throughput\n",
             study.points.size(), loop_s, jobs, sweep_s, loop_s / (jobs * sweep_s));
  return 0;
}
