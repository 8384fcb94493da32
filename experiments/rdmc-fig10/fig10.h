// RDMC, figure 10: bandwidth of overlapping groups.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig10(const Options& options);

}  // namespace slackline::experiments
