// RDMA against RPC, figure 3: component latencies against nodes, on Aries and on InfiniBand.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdma_vs_rpc_fig3(const Options& options);

}  // namespace slackline::experiments
