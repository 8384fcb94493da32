// How long many schedules take, each on a platform of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::sim {

struct MakespanRuns {
  std::uint32_t count = 0;
  std::function<sched::Schedule(std::uint32_t)> schedule;  // made in the run's own process
  std::function<const machine::Platform&(std::uint32_t)> platform;
  std::uint32_t jobs = 1;       // at a time
  std::function<void()> ended;  // after each; may be empty
};

/// Runs each with run_simgrid(), on the wiring that wiring_of() makes, and throws what that does;
/// of several errors, the first run's.
std::vector<double> simgrid_makespans(const MakespanRuns& runs);

}  // namespace slackline::sim
