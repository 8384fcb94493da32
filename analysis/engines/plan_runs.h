// Many runs of the analytic engine, the event engine or the flow engine, over threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/in_threads.h"
#include "machine/engine.h"

namespace slackline::analysis {

/// What Engine::run_plans is of an engine whose runs several threads can make: `run`, once per
/// plan, `runs.jobs` at a time.
template <sched::Trace (*run)(const machine::Setting&)>
std::vector<double> plans_in_threads(const machine::Setting& setting, const machine::PlanRuns& runs,
                                     const machine::TraceReading& reading) {
  std::vector<double> kept(std::size_t{runs.count} * reading.width);
  in_threads(
      runs.count, runs.jobs,
      [&](std::uint32_t i) {
        const machine::DelayPlan plan = runs.plan(i);
        reading.read(run(setting.with(plan)),
                     std::span(kept).subspan(std::size_t{i} * reading.width, reading.width));
      },
      runs.progress);
  return kept;
}

}  // namespace slackline::analysis
