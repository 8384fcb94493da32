// RDMC, sections 2 and 5.1: what relaying in the NIC gains as the software that relays grows
// slower.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report offload_preemption(const Options& options);

}  // namespace slackline::experiments
