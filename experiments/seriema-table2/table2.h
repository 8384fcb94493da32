// Seriema, table 2: the throughput of calls, send-based, one-sided and aggregated.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report seriema_table2(const Options& options);

}  // namespace slackline::experiments
