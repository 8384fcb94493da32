// RDMC, figure 6: bandwidth against the size of a block.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig6(const Options& options);

}  // namespace slackline::experiments
