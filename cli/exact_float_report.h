// What `slack --exact-float` says: the largest delay of an operation that costs nothing, beside its
// float with order and rates frozen.
#pragma once

#include <string>
#include <vector>

#include "analysis/slack/exact_float.h"
#include "cli/schedule_source.h"
#include "cli/slack_run.h"

namespace slackline::cli {

struct FoundFloats {
  std::vector<sched::OpId> ops;
  std::vector<analysis::ExactFloat> exact;  // of each of them
  std::vector<double> frozen_s;             // of each of them: TimedSlack's
};
std::string exact_float_report(const LoadedSchedule& loaded, const SlackRun& run,
                               const FoundFloats& found, bool all);
std::string exact_float_document(const LoadedSchedule& loaded, const SlackRun& run,
                                 const FoundFloats& found);

}  // namespace slackline::cli
