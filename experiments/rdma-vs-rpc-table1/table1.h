// RDMA against RPC, table I: what a put, a get, a compare-and-swap and a fetch-and-op cost.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdma_vs_rpc_table1(const Options& options);

}  // namespace slackline::experiments
