// What `slack --price` says: what the same delay really costs at each operation alone.
#pragma once

#include <vector>

#include "base/units.h"
#include "cli/answer.h"
#include "cli/slack_run.h"

namespace slackline::cli {

struct DelayPrices {
  sched::Time by{0};
  double makespan_s = 0;       // without any
  std::vector<double> cost_s;  // of every operation: how much later the run with its delay ends
};
void answer_prices(Answer& answer, const SlackRun& run, const DelayPrices& prices);

}  // namespace slackline::cli
