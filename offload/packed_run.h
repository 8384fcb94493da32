// What leaves a run that took place in another process.
#pragma once

#include <string>
#include <string_view>

#include "offload/emulate.h"
#include "offload/nic_queues.h"

namespace slackline::offload {

/// Times, faults and counts, as bytes for the same program in another process.
std::string pack(const NicQueues& nic);
/// The trace has nothing but its times. Throws InternalError on what pack() did not make.
Emulation unpack(std::string_view bytes);

}  // namespace slackline::offload
