// RDMC, figure 11: polling against interrupts, in bandwidth and in CPU time.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig11(const Options& options);

}  // namespace slackline::experiments
