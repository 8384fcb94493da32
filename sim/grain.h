// What SimGrid is told in place of bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace slackline::sim {

/// SimGrid takes payloads in whole bytes, too coarse to correct a flow by picoseconds. So its bytes
/// are grains of ours, payloads and bandwidths alike: the grains in a byte, in a run whose largest
/// message has `largest_bytes`. 2^20 of them up to 2^42 bytes; fewer above, a power of two and at
/// least 1, so that a payload has at most 2^62 grains, or as many as it has bytes. Payloads above
/// 2^42 bytes are then still exact to a relative 2^-61.
inline double grains_per_byte(std::uint64_t largest_bytes) {
  constexpr int kMost = 20;
  constexpr int kPayloadBits = 62;
  const int bits = largest_bytes == 0 ? 0 : static_cast<int>(std::bit_width(largest_bytes - 1));
  return std::ldexp(1.0, std::clamp(kPayloadBits - bits, 0, kMost));
}

}  // namespace slackline::sim
