// RDMC, sections 4.3 and 5.3: steps that synchronise nothing, against steps in lockstep.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_lockstep(const Options& options);

}  // namespace slackline::experiments
