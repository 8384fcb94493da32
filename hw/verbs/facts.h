// What there is to tell of an RDMA port.
#pragma once

#include "hw/transport.h"
#include "hw/verbs/device.h"

namespace slackline::hw {

/// Name, port, GID and MTU as they are used; the rate as the kernel tells it.
TransportFacts facts_of(const VerbsDevice& device);

}  // namespace slackline::hw
