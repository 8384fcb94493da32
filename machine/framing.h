// What messages take on a wire beside their bytes: packets have headers, and lines have a code.
#pragma once

#include <cstdint>

namespace slackline::machine {

/// Every link of a network has the same. Nothing is added unless it is given.
struct Framing {
  std::uint64_t mtu_bytes = 0;            // of a message, in one packet; 0: all of it
  std::uint32_t packet_overhead = 0;      // bytes of each packet that are none of the message's
  std::uint32_t coding_payload_bits = 1;  // of every …
  std::uint32_t coding_line_bits = 1;     // … on the line: 64 of 66, 8 of 10

  /// The bytes by which a message of so many takes the time of a wire. A message without bytes has
  /// none: what a credit or a request takes is its latency.
  double wire_bytes(std::uint64_t message_bytes) const {
    auto bytes = static_cast<double>(message_bytes);
    if (packet_overhead != 0 && message_bytes != 0) {
      const std::uint64_t packets = mtu_bytes == 0 ? 1 : (message_bytes - 1) / mtu_bytes + 1;
      bytes += static_cast<double>(packets) * packet_overhead;
    }
    return coding_payload_bits == coding_line_bits ? bytes
                                                   : bytes * coding_line_bits / coding_payload_bits;
  }
  friend bool operator==(const Framing&, const Framing&) = default;
};

}  // namespace slackline::machine
