// A source of traces that runs one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "machine/plan_runs.h"

namespace slackline::testing {

inline machine::TraceSource one_by_one(std::function<sched::Trace(const machine::DelayPlan&)> run) {
  return
      [run = std::move(run)](const machine::PlanRuns& runs, const machine::TraceReading& reading) {
        std::vector<double> kept(std::size_t{runs.count} * reading.width);
        for (std::uint32_t i = 0; i < runs.count; ++i) {
          reading.read(run(runs.plan(i)),
                       std::span(kept).subspan(std::size_t{i} * reading.width, reading.width));
          if (runs.progress) runs.progress(i + 1);
        }
        return kept;
      };
}

}  // namespace slackline::testing
