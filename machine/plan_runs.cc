#include "machine/plan_runs.h"

#include <utility>

namespace slackline::machine {

TraceSource one_by_one(std::function<sched::Trace(const DelayPlan&)> run) {
  return [run = std::move(run)](const PlanRuns& runs, const TraceReading& reading) {
    std::vector<double> kept(std::size_t{runs.count} * reading.width);
    for (std::uint32_t i = 0; i < runs.count; ++i) {
      reading.read(run(runs.plan(i)),
                   std::span(kept).subspan(std::size_t{i} * reading.width, reading.width));
      if (runs.progress) runs.progress(i + 1);
    }
    return kept;
  };
}

}  // namespace slackline::machine
