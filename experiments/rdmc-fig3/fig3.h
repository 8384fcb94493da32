// RDMC, figure 3: the binomial tree and the binomial pipeline drawn step by step.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig3(const Options& options);

}  // namespace slackline::experiments
