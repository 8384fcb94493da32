// Grappa: queues for every end point, or a hierarchy of nodes and groups.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report grappa_hierarchy(const Options& options);

}  // namespace slackline::experiments
