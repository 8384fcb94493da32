// What `slack --slopes` says: which operations should not be late at all, and which rather should.
#pragma once

#include <span>
#include <string>

#include "analysis/slack/delay_slopes.h"
#include "cli/schedule_source.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// One slope of every operation, in order.
std::string slope_report(const LoadedSchedule& loaded, const SlackRun& run,
                         std::span<const analysis::DelaySlope> slopes, bool all);
std::string slope_document(const LoadedSchedule& loaded, const SlackRun& run,
                           std::span<const analysis::DelaySlope> slopes);

}  // namespace slackline::cli
