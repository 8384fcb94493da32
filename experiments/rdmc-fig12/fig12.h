// RDMC, figure 12: relaying in the NIC against relaying in software, on a chain.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_fig12(const Options& options);

}  // namespace slackline::experiments
