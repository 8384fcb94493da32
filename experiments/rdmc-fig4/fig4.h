// RDMC, figure 4: latency of each algorithm against the size of the group.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig4(const Options& options);

}  // namespace slackline::experiments
