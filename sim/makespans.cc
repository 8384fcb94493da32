#include "sim/makespans.h"

#include <span>

#include "sim/child_run.h"
#include "sim/file_wiring.h"
#include "sim/simgrid_engine.h"

namespace slackline::sim {

std::vector<double> simgrid_makespans(const MakespanRuns& runs) {
  const SharedMemory memory(runs.count * sizeof(double));
  const std::span<double> times_s(static_cast<double*>(memory.data()), runs.count);
  run_in_children(
      runs.count, runs.jobs,
      [&](std::uint32_t i) {
        const sched::Schedule schedule = runs.schedule(i);
        const machine::Platform& platform = runs.platform(i);
        times_s[i] = run_simgrid({schedule, platform, wiring_of(platform, schedule)}).makespan_s();
      },
      runs.ended);
  return {times_s.begin(), times_s.end()};
}

}  // namespace slackline::sim
