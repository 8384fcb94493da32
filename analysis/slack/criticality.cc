#include "analysis/slack/criticality.h"

#include <algorithm>
#include <atomic>

#include "analysis/in_threads.h"
#include "analysis/slack/critical_path.h"

namespace slackline::analysis {

using sched::OpId;

Criticality criticality(const machine::Setting& setting, const machine::Engine& engine,
                        const machine::SampleRuns& runs) {
  const sched::Schedule& schedule = setting.schedule;
  const WireTimes wire = engine.shares_links ? WireTimes::kRun : WireTimes::kModel;
  Criticality result;
  result.of_op.resize(schedule.op_count(), 0);
  result.of_rank.resize(schedule.rank_count(), 0);
  result.makespan_s.resize(runs.samples, 0);
  // Counts add up to the same in any order.
  const auto count = [](std::uint32_t& counter) {
    std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed);
  };
  const auto sample = [&](std::uint32_t i) {
    machine::DelayPlan drawn = setting.delays;
    drawn.seed += i;
    const machine::Setting sampled = setting.with(drawn);
    const sched::Trace trace = engine.run(sampled);
    std::vector<OpId> path = critical_path(frozen_run(sampled, trace, wire));
    result.makespan_s[i] = trace.makespan_s();
    // An operation stands on it twice if it waited for others in between.
    std::sort(path.begin(), path.end());
    path.erase(std::unique(path.begin(), path.end()), path.end());
    sched::RankId counted = sched::RankId::none();
    for (const OpId id : path) {
      count(result.of_op[id.value]);
      const sched::RankId rank = schedule.op(id).rank;  // operations are grouped by rank
      if (rank != counted) count(result.of_rank[rank.value]);
      counted = rank;
    }
  };
  in_threads(runs.samples, runs.jobs, sample, runs.progress);
  return result;
}

}  // namespace slackline::analysis
