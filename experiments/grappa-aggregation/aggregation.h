// Grappa: small messages against the network's peak, and what gathering them gains.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report grappa_aggregation(const Options& options);

}  // namespace slackline::experiments
