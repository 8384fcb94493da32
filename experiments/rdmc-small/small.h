// RDMC, section 4.6: small messages by one-sided writes into bounded buffers, against RDMC.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_small(const Options& options);

}  // namespace slackline::experiments
