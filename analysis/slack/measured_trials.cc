#include "analysis/slack/measured_trials.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/statistics.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using sched::RankId;

// The operations of every rank in the order in which they were issued.
std::vector<OpId> issue_order(const sched::Schedule& schedule, const sched::Trace& trace) {
  std::vector<OpId> order;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) order.emplace_back(i);
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    std::stable_sort(order.begin() + schedule.first_op(RankId(rank)).value,
                     order.begin() + schedule.end_op(RankId(rank)).value, [&](OpId a, OpId b) {
                       return trace.ops[a.value].issued_s < trace.ops[b.value].issued_s;
                     });
  }
  return order;
}

double noise_of(std::span<const double> medians_s, std::span<const double> undelayed_s) {
  if (medians_s.size() < 3) {
    if (undelayed_s.empty()) return 0;
    const auto [least, most] = std::minmax_element(undelayed_s.begin(), undelayed_s.end());
    return (*most - *least) / 2;
  }
  std::vector<double> steps_s;
  for (std::size_t i = 1; i < medians_s.size(); ++i) {
    steps_s.push_back(std::abs(medians_s[i] - medians_s[i - 1]));
  }
  std::sort(steps_s.begin(), steps_s.end());
  return steps_s[(steps_s.size() * 9 + 9) / 10 - 1];
}

}  // namespace

MeasuredTrials run_measured_trials(const sched::Schedule& schedule, const machine::DelayPlan& plan,
                                   std::span<const machine::OpDelay> trials, std::uint32_t repeats,
                                   const MeasuredRun& run,
                                   const std::function<void(std::uint32_t done)>& done) {
  const auto run_to_the_end = [&](const machine::DelayPlan& with) {
    sched::Trace trace = run(with);
    if (std::isfinite(trace.makespan_s())) return trace;
    throw InputError("a run did not come to its end; expected one that does");
  };
  MeasuredTrials found;
  std::vector<double> medians_s;
  std::uint32_t pairs = 0;
  for (const machine::OpDelay& trial : trials) {
    machine::DelayPlan delayed = plan;
    delayed.ops.push_back({trial.op, trial.by, trial.whole_lane, RankId::none()});
    std::vector<double> without_s;
    std::vector<double> with_s;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < repeats; ++i) {
      const sched::Trace without = run_to_the_end(plan);
      const sched::Trace with = run_to_the_end(delayed);
      without_s.push_back(without.makespan_s());
      with_s.push_back(with.makespan_s());
      if (issue_order(schedule, without) == issue_order(schedule, with)) ++kept;
      if (done) done(++pairs);
    }
    found.undelayed_s.insert(found.undelayed_s.end(), without_s.begin(), without_s.end());
    medians_s.push_back(base::median(without_s));
    found.validation.trials.push_back(
        {trial, 0, base::median(with_s) - medians_s.back(), 2 * kept >= repeats, false});
  }
  found.validation.makespan_s = base::median(found.undelayed_s);
  found.noise_s = noise_of(medians_s, found.undelayed_s);
  return found;
}

}  // namespace slackline::analysis
