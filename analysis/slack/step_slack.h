// Step slack, as RDMC defines it (section 4.5): for a send at step j, j minus the step in which its
// bytes came in.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/schedule.h"

namespace slackline::analysis {

/// Sums over sends, so that averages are exact fractions.
struct SlackSum {
  std::uint64_t total = 0;
  std::uint64_t sends = 0;
  double average() const {
    return sends == 0 ? 0.0 : static_cast<double>(total) / static_cast<double>(sends);
  }
};

struct StepSlack {
  std::vector<SlackSum> of_step;  // one per step, over ranks that relay (the root is left out)
  std::uint32_t first_steady = 0;
  std::uint32_t end_steady = 0;  // one past the last; steady steps are those in which no fewer
                                 // ranks relay than in any other
  SlackSum steady;
  SlackSum all;
  std::uint32_t smallest = 0;  // of any send; 0 if nothing is relayed
};

/// Over the sends and puts whose bytes a receive, or a put from elsewhere, brought to their rank.
StepSlack step_slack(const sched::Schedule& schedule);

}  // namespace slackline::analysis
