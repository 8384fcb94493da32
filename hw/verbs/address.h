// What a rank tells its peers of itself and of its ends, as the bytes of a transport's address.
#pragma once

#include <cstdint>
#include <span>

#include "hw/transport.h"
#include "hw/verbs/port.h"

namespace slackline::hw {

/// What the other end needs to connect. Plain bytes.
struct VerbsEndAddress {
  std::uint32_t channel = 0;
  std::uint32_t initiates = 0;
  std::uint32_t queue_pair = 0;
  std::uint32_t first_packet = 0;
};

Address pack_address(const VerbsPort& port, std::span<const VerbsEndAddress> ends);

/// Both throw EnvironmentError if what `rank` sent is no address: from another kind of machine, or
/// of another program.
VerbsPort port_of(const Address& address, std::uint32_t rank);
/// The other end of `end`. Throws InternalError if the address, end.peer's, has none.
VerbsEndAddress other_end(const Address& address, const ChannelEnd& end);

/// `addresses` by rank, where there is one. Throws EnvironmentError if two of these ranks have a
/// channel between ports that do not reach each other: of several channels the one with the lowest
/// number, so that all ranks that have the same addresses throw alike.
void require_matches(std::span<const Address> addresses);

}  // namespace slackline::hw
