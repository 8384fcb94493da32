// What `slack` says of what delays, links and processors really cost (cli/real_costs.h), by option.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/slack/delay_slopes.h"
#include "analysis/slack/helpful_delays.h"
#include "analysis/slack/link_upgrades.h"
#include "analysis/slack/rank_overheads.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// --price: what the same delay really costs at each operation alone.
struct DelayPrices {
  sched::Time by{0};
  double makespan_s = 0;       // without any
  std::vector<double> cost_s;  // of every operation: how much later the run with its delay ends
};
void answer_prices(Answer& answer, const SlackRun& run, const DelayPrices& prices);

/// --slopes: which operations should not be late at all, and which rather should. One slope of
/// every operation, in order.
void answer_slopes(Answer& answer, const SlackRun& run,
                   std::span<const analysis::DelaySlope> slopes);

/// --suggest: delays that make the whole faster. `confirmed` is nothing without that engine, and if
/// nothing helps.
struct Confirmation {
  std::string engine;  // another one, of the run with what is suggested, and of the run without
  double without_s = 0;
  double with_s = 0;
};
void answer_suggestion(Answer& answer, const SlackRun& run, const analysis::HelpfulDelays& found,
                       const std::optional<Confirmation>& confirmed);

/// --what-if: which link to make better, and whose processor must not be slower. `overheads` are of
/// the same run, rank by rank.
void answer_upgrades(Answer& answer, const SlackRun& run, const analysis::LinkUpgrades& upgrades,
                     std::span<const analysis::RankOverhead> overheads);

}  // namespace slackline::cli
