// Which channels of a schedule carry copies of another one's messages: what a multicast of the
// network delivers to all of them at once.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/schedule.h"

namespace slackline::hw {

/// By channel of the schedule: the channel of whose messages its own are copies, message by
/// message; itself for such a channel; kNoFlow (hw/transport.h) for all others. Empty if there is
/// none.
///
/// Copies are made by ranks that only copy, such as the switches of switch-multicast. Of what such
/// a rank receives the contract says nothing, and nothing but a receive writes it, and that once. A
/// channel carries copies of another if its k-th message is whole what the other's k-th
/// has brought, and waits for it. Messages without bytes are as ever, and so are channels on which
/// puts, gets or atomics go, too. A rank that copies what
/// another such rank has copied passes on the first one's. A schedule with regions or bundles has
/// no flows.
std::vector<std::uint32_t> multicast_flows(const sched::Schedule& schedule);

/// Throws Unsupported if the schedule has no flows, naming `option`.
void require_multicast_flows(const sched::Schedule& schedule, const char* option);

}  // namespace slackline::hw
