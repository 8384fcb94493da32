// RDMC, figure 8: replicating 256 MB to hundreds of nodes.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig8(const Options& options);

}  // namespace slackline::experiments
