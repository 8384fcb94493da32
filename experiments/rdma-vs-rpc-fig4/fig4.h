// RDMA vs. RPC (2019), figure 4: pushing to queues.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdma_vs_rpc_fig4(const Options& options);

}  // namespace slackline::experiments
