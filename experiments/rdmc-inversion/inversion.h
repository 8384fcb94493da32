// RDMC, section 2: does posting work as soon as possible delay urgent work?
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_inversion(const Options& options);

}  // namespace slackline::experiments
