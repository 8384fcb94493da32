// What `slack --what-if` says: which link to make better.
#pragma once

#include <string>

#include "analysis/slack/link_upgrades.h"
#include "cli/schedule_source.h"
#include "cli/slack_run.h"

namespace slackline::cli {

std::string upgrade_report(const LoadedSchedule& loaded, const SlackRun& run,
                           const analysis::LinkUpgrades& upgrades, bool all);
std::string upgrade_document(const LoadedSchedule& loaded, const SlackRun& run,
                             const analysis::LinkUpgrades& upgrades);

}  // namespace slackline::cli
