// Seriema, figure 3: distributed Monte-Carlo tree search over Hex.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report seriema_fig3(const Options& options);

}  // namespace slackline::experiments
