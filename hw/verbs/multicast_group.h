// A multicast group of a RoCE v2 port: its GID, and what the host's network stack has to be told so
// that packets for it are let in.
#pragma once

#include <string>

#include "base/descriptor.h"
#include "hw/verbs/device_choice.h"

namespace slackline::hw {

/// A GID for a group that nobody else has, drawn: of IPv4 (239.192.0.0/14) for a port with such a
/// GID, else of IPv6, as far as the port's own GID reaches (link-local, or the site).
Gid drawn_group(const Gid& port);

/// Whether `group` is one of those that a port with this GID may join.
bool is_group_for(const Gid& group, const Gid& port);

/// Joins the group on a network interface, until the descriptor is closed: by IGMP or MLD, so that
/// switches deliver it, and so that the host does not drop it. Soft-RoCE gets its packets from the
/// host's stack, and attaching a queue pair alone opens only the interface's filter. Throws
/// EnvironmentError, naming `port`, where it cannot.
sched::Descriptor join_group(const Gid& group, const std::string& interface,
                             const std::string& port);

}  // namespace slackline::hw
