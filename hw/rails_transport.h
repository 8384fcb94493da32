// One transport out of several, one for each NIC of a host: each channel takes the one that its
// ends name (ChannelEnd::rail), for all that it carries.
#pragma once

#include <memory>
#include <vector>

#include "hw/transport.h"

namespace slackline::hw {

/// At least one, all of one kind. Every rank makes it of as many, in the order of their rails: a
/// channel's ends are on the same rail. Memory is registered with all of them.
///
/// Where a request finds no room at its rail, those behind it wait too, whatever theirs. It naps
/// instead of sleeping, since no descriptor speaks for all. It has no atomics: those of two NICs
/// are not atomic among themselves. Throws EnvironmentError, naming the rank, if a peer has another
/// number of rails.
std::unique_ptr<Transport> join_rails(std::vector<std::unique_ptr<Transport>> rails);

}  // namespace slackline::hw
