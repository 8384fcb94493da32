// Seriema, figure 2: messages a second against their size, by hand and with automatic selective
// signalling.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report seriema_fig2(const Options& options);

}  // namespace slackline::experiments
