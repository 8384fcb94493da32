// Multicast datagrams of a RoCE v2 port: an unreliable-datagram (UD) queue pair, attached to the
// groups that it joins.
#pragma once

#include <memory>

#include "hw/multicast/datagrams.h"
#include "hw/verbs/device.h"

namespace slackline::hw {

/// Throws EnvironmentError, naming the port, where it is none of RoCE v2 (InfiniBand's groups are a
/// subnet manager's, which is not asked) or its device has no multicast. The device must outlive
/// what is returned.
std::unique_ptr<Datagrams> make_verbs_datagrams(VerbsDevice& device);

}  // namespace slackline::hw
