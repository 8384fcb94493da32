// What `slack --what-if` says: which link to make better.
#pragma once

#include "analysis/slack/link_upgrades.h"
#include "cli/answer.h"
#include "cli/slack_run.h"

namespace slackline::cli {

void answer_upgrades(Answer& answer, const SlackRun& run, const analysis::LinkUpgrades& upgrades);

}  // namespace slackline::cli
