// Queue programs on an mlx5 NIC.
#pragma once

#include <string>

#include "hw/offload_run.h"

namespace slackline::hw {

/// As run_offloaded().
OffloadRun run_on_mlx5(const offload::QueueProgram& program, const sched::Schedule& schedule,
                       OffloadPath path, const std::string& device, const QueueEncoder& encode);

}  // namespace slackline::hw
