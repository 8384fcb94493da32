// RDMA vs. RPC (2019), tables II and III: operations of hash tables and queues.
#pragma once

#include "experiments/registry.h"

namespace slackline::experiments {

Report rdma_vs_rpc_tables2_3(const Options& options);

}  // namespace slackline::experiments
