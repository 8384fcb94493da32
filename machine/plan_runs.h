// Many runs of one schedule that differ in their delays, and what is kept of each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "machine/delay_plan.h"
#include "sched/trace.h"

namespace slackline::machine {

/// Which runs. What happens to the network (rates, failures) must be the same in all of them;
/// results do not depend on `jobs`.
struct PlanRuns {
  std::uint32_t count = 0;
  std::function<DelayPlan(std::uint32_t run)> plan;  // asked by any thread, in any order
  std::uint32_t jobs = 1;                            // at a time
  /// Told now and then how many runs are done, by the calling thread. May be empty.
  std::function<void(std::uint32_t done)> progress;
};

/// What is kept of a run: `width` numbers that `read` makes of its trace, in a thread or a process
/// of its own.
struct TraceReading {
  std::uint32_t width = 0;
  std::function<void(const sched::Trace& trace, std::span<double> kept)> read;
};

/// Whoever can run a schedule many times, an engine or a machine: of every run in turn, what was
/// kept of it. A failure that keeps a run from ending leaves infinite times. Throws what the runs
/// throw; of several, the first run's.
using TraceSource = std::function<std::vector<double>(const PlanRuns&, const TraceReading&)>;

}  // namespace slackline::machine
