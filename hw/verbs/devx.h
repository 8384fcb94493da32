// Queue programs on objects that DevX makes, cross-channel bits and all.
#pragma once

#include <string>

#include "hw/offload_run.h"

namespace slackline::hw {

/// As run_offloaded(); `nic` is an mlx5 NIC with all that the path needs.
OffloadRun run_by_devx(const offload::QueueProgram& program, const sched::Schedule& schedule,
                       const std::string& nic, const QueueEncoder& encode);

}  // namespace slackline::hw
