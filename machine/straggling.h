// What a straggler adds to the time that an operation has its lane.
#pragma once

#include <vector>

#include "base/units.h"
#include "machine/delay_plan.h"

namespace slackline::machine {

/// (slowdown − 1) times `lane_s`, to the nearest picosecond; kForever where no time is long enough.
/// `by` is not in it.
sched::Time slower(const Straggler& straggler, double lane_s);

/// The stragglers of a plan, by rank. Keeps no reference.
class Straggling {
 public:
  /// Of so many ranks.
  Straggling(const DelayPlan& plan, std::uint32_t ranks);

  /// What is added to `lane_s` of a lane of the rank, `by` included; 0 of who is no straggler.
  double more_s(sched::RankId rank, double lane_s) const;

 private:
  std::vector<Straggler> of_rank_;  // empty if there are none
};

}  // namespace slackline::machine
