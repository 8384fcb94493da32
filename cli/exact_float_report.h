// What `slack --exact-float` says: the largest delay of an operation that costs nothing, beside its
// float with order and rates frozen.
#pragma once

#include <vector>

#include "analysis/slack/exact_float.h"
#include "cli/answer.h"
#include "cli/slack_run.h"

namespace slackline::cli {

struct FoundFloats {
  std::vector<sched::OpId> ops;
  std::vector<analysis::ExactFloat> exact;  // of each of them
  std::vector<double> frozen_s;             // of each of them: TimedSlack's
};
void answer_exact_floats(Answer& answer, const SlackRun& run, const FoundFloats& found);

}  // namespace slackline::cli
