// RDMA vs. RPC (2019), figure 6: attentiveness.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdma_vs_rpc_fig6(const Options& options);

}  // namespace slackline::experiments
