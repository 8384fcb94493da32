// RDMC, section 2: do operations that NICs carry out as soon as they are possible get in the way of
// urgent ones?
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report priority_inversion_offload(const Options& options);

}  // namespace slackline::experiments
