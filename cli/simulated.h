// What the console is told of a simulation.
#pragma once

#include <fmt/format.h>

#include <chrono>

#include "cli/console.h"
#include "machine/engine.h"

namespace slackline::cli {

/// Calls `run`, which simulates with the engine, and says so. Who waited longer for SimGrid is told
/// who takes less.
template <class Run>
auto simulated(const machine::Engine& engine, Console& console, Run&& run) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kLongWait{5};
  console.phase("simulating");
  const Clock::time_point begun = Clock::now();
  auto found = run();
  const Clock::duration waited = Clock::now() - begun;
  if (engine.name == "simgrid" && waited >= kLongWait) {
    console.note(fmt::format(
        "SimGrid took {:.0f} s; the engine flow shares links by the same rules, and takes less",
        std::chrono::duration<double>(waited).count()));
  }
  return found;
}

}  // namespace slackline::cli
