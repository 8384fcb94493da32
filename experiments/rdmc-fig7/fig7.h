// RDMC, figure 7: messages of one byte per second.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig7(const Options& options);

}  // namespace slackline::experiments
