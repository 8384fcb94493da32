// What goes wrong in a run, kept apart from the schedule so that its digest stays the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sched/ids.h"
#include "sched/units.h"

namespace slackline::machine {

/// A one-off delay of one operation.
struct OpDelay {
  sched::OpId op;
  sched::Time by{0};
  /// false: the operation alone becomes ready later. true: its lane is held that much longer before
  /// the post, as a preemption does, and everything behind it waits too.
  bool whole_lane = false;
};

/// A one-off delay of what a rank initiates at a step: every send, put, get or atomic of that step
/// that is not a credit.
struct StepDelay {
  sched::RankId rank;
  std::uint32_t step = 0;
  sched::Time by{0};
  bool whole_lane = false;
};

/// A rate for messages from src to dst, when it is below the NIC's.
struct PairRate {
  sched::RankId src;
  sched::RankId dst;
  sched::Rate rate;
};

struct DelayPlan {
  std::vector<OpDelay> ops;
  std::vector<StepDelay> steps;
  std::vector<PairRate> pairs;

  bool empty() const { return ops.empty() && steps.empty() && pairs.empty(); }

  /// The canonical text (TOML), which delay_plan_from_toml() reads back. Empty for an empty plan.
  std::string text() const;
};

}  // namespace slackline::machine
