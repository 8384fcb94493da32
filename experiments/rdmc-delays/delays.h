// Delays that make a multicast faster, where messages share links.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_delays(const Options& options);

}  // namespace slackline::experiments
