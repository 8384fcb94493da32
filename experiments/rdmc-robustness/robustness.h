// RDMC, section 4.5: one delay, one slow link, and the slack that absorbs them.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_robustness(const Options& options);

}  // namespace slackline::experiments
