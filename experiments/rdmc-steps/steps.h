// RDMC, sections 4.3 and 4.4: how many steps each algorithm takes, and when receivers finish.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_steps(const Options& options);

}  // namespace slackline::experiments
