#include "machine/straggling.h"

#include <cmath>

namespace slackline::machine {

sched::Time slower(const Straggler& straggler, double lane_s) {
  const double picoseconds = std::floor((straggler.slowdown - 1) * lane_s * 1e12 + 0.5);
  const bool fits = picoseconds < static_cast<double>(sched::kForever.count());
  return fits ? sched::Time{static_cast<std::int64_t>(picoseconds)} : sched::kForever;
}

Straggling::Straggling(const DelayPlan& plan, std::uint32_t ranks) {
  if (plan.stragglers.empty()) return;
  of_rank_.resize(ranks);
  for (const Straggler& straggler : plan.stragglers) of_rank_[straggler.rank.value] = straggler;
}

double Straggling::more_s(sched::RankId rank, double lane_s) const {
  if (of_rank_.empty()) return 0;
  const Straggler& straggler = of_rank_[rank.value];
  return sched::seconds(slower(straggler, lane_s)) + sched::seconds(straggler.by);
}

}  // namespace slackline::machine
