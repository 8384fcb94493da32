// What `slack --slopes` says: which operations should not be late at all, and which rather should.
#pragma once

#include <span>

#include "analysis/slack/delay_slopes.h"
#include "cli/answer.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// One slope of every operation, in order.
void answer_slopes(Answer& answer, const SlackRun& run,
                   std::span<const analysis::DelaySlope> slopes);

}  // namespace slackline::cli
