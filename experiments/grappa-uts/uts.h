// Grappa: unbalanced tree search.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report grappa_uts(const Options& options);

}  // namespace slackline::experiments
