// RDMA vs. RPC (2019), figure 5: hash tables.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdma_vs_rpc_fig5(const Options& options);

}  // namespace slackline::experiments
