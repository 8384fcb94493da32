// What `slack --what-if` says: which link to make better, and whose processor must not be slower.
#pragma once

#include <span>

#include "analysis/slack/link_upgrades.h"
#include "analysis/slack/rank_overheads.h"
#include "cli/answer.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// `overheads` are of the same run, rank by rank.
void answer_upgrades(Answer& answer, const SlackRun& run, const analysis::LinkUpgrades& upgrades,
                     std::span<const analysis::RankOverhead> overheads);

}  // namespace slackline::cli
