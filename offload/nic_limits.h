// What a NIC can do and hold.
#pragma once

#include <cstdint>

namespace slackline::offload {

/// The defaults are those of the ConnectX family where they are documented, as far as a program may
/// count on them. A card tells its own.
struct NicLimits {
  std::uint32_t queue_depth = 1u << 15;                  // entries of a work queue, 4 … 2^15
  std::uint32_t cq_depth = 1u << 22;                     // completions a completion queue holds
  std::uint64_t message_bytes = std::uint64_t{1} << 30;  // of one message on a reliable connection
  bool cross_channel = true;   // WAIT and ENABLE at all (HCA capability `cd`)
  bool ignore_overrun = true;  // completion queues may run over, since nobody reads them (`cq_oi`)
};

/// A wait compares 24-bit counts and an enable 16-bit ones: at most half of that may lie between
/// where a counter is and where it is to be.
inline constexpr std::uint64_t kMaxCqAhead = std::uint64_t{1} << 23;
inline constexpr std::uint64_t kMaxQueueAhead = std::uint64_t{1} << 15;

}  // namespace slackline::offload
