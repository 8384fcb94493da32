// What a rank that multicasts tells the others before they connect.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/bytes.h"
#include "hw/transport.h"

namespace slackline::hw {

struct MulticastAddress {
  std::uint64_t salt = 0;            // DatagramHead::salt of what it sends
  std::uint64_t most_bytes = 0;      // of a datagram
  Address group;                     // Datagrams::group(); empty: it is no flow's source
  std::vector<std::uint32_t> flows;  // whose source it is, by their channels
  Address under;                     // of the transport below
};

Address pack(const MulticastAddress& address);
/// Throws BadBytes for what is none.
MulticastAddress read_multicast_address(ByteReader& reader);

}  // namespace slackline::hw
