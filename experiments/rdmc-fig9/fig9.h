// RDMC, figure 9: the replication layer of a storage system.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig9(const Options& options);

}  // namespace slackline::experiments
