// The PCIe link between a NIC and its host's memory: what a message takes there, transaction by
// transaction.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace slackline::machine {

/// Each NIC has one, and each direction of it is used by one direction of the NIC's port alone:
/// what is sent comes over the one, what is received goes over the other. It limits nothing unless
/// it has a rate.
struct Pcie {
  sched::Rate rate{0};              // of all that transactions are made of, each way; 0: no limit
  std::uint64_t payload_bytes = 0;  // of a message, in one transaction; 0: all of it
  std::uint32_t header_bytes = 0;   // of each transaction that are none of the message's

  bool limits() const { return rate.bits_per_second != 0; }

  /// Seconds that a message of so many bytes takes of the link, in one direction: 0 without a
  /// limit. A message without bytes makes no transaction: a credit or a request takes none of the
  /// link.
  double transfer_s(std::uint64_t message_bytes) const {
    if (!limits() || message_bytes == 0) return 0;
    const std::uint64_t transactions =
        payload_bytes == 0 ? 1 : (message_bytes - 1) / payload_bytes + 1;
    const double bytes = static_cast<double>(message_bytes) +
                         static_cast<double>(transactions) * static_cast<double>(header_bytes);
    return bytes / rate.bytes_per_second();
  }
  friend bool operator==(const Pcie&, const Pcie&) = default;
};

}  // namespace slackline::machine
