// RDMC, section 4.3: a pipeline among racks and then within them, against one over all nodes.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_hybrid(const Options& options);

}  // namespace slackline::experiments
