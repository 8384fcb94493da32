// Grappa: breadth-first search over a Kronecker graph.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report grappa_bfs(const Options& options);

}  // namespace slackline::experiments
