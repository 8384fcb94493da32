// RDMC, table 1: where the time of one transfer goes.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdmc_table1(const Options& options);

}  // namespace slackline::experiments
