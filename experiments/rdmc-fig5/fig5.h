// RDMC, figure 5: a preemption of the relayer seen step by step.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig5(const Options& options);

}  // namespace slackline::experiments
