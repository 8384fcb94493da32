#include "analysis/slack/rank_overheads.h"

#include <algorithm>

#include "analysis/in_threads.h"
#include "machine/delay_plan.h"

namespace slackline::analysis {
namespace {

machine::DelayPlan with_slower(machine::DelayPlan plan, sched::RankId rank, double by) {
  const auto known = std::ranges::find(plan.stragglers, rank, &machine::Straggler::rank);
  if (known == plan.stragglers.end()) {
    plan.stragglers.push_back({rank, 1 + by});
  } else {
    known->slowdown += by;
  }
  return plan;
}

}  // namespace

std::vector<RankOverhead> rank_overheads(const machine::Setting& setting,
                                         const machine::Engine& engine, std::uint32_t jobs) {
  std::vector<RankOverhead> found;
  for (std::uint32_t rank = 0; rank < setting.schedule.rank_count(); ++rank) {
    found.push_back({sched::RankId(rank)});
  }
  const auto makespan_s = [&](sched::RankId rank, double by) {
    const machine::DelayPlan plan = with_slower(setting.delays, rank, by);
    return engine.run(setting.with(plan)).makespan_s();
  };
  in_threads(2 * setting.schedule.rank_count(), jobs, [&](std::uint32_t run) {
    RankOverhead& overhead = found[run / 2];
    (run % 2 == 0 ? overhead.slower_s : overhead.twice_s) =
        makespan_s(overhead.rank, run % 2 == 0 ? 0.01 : 1);
  });
  return found;
}

}  // namespace slackline::analysis
