// The ports of this machine's RDMA devices, as libibverbs and the kernel tell.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hw/verbs/device.h"
#include "hw/verbs/device_choice.h"

namespace slackline::hw {

/// In the order of their names, mlx5_2 before mlx5_10; each device at least once. Opens the devices
/// for it, or only the one of the name `only` if that is not empty: of the others the names alone
/// are told.
/// What was opened stays so in `opened`, by device: to open one takes its time.
std::vector<PortDescription> read_ports(const std::string& only,
                                        std::map<std::string, Verbs<ibv_context>>& opened);

/// Where the kernel says that the device is plugged in; −1: it does not say.
int numa_node_of_device(const std::string& device);

}  // namespace slackline::hw
