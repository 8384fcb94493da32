// One work request as one call of libfabric.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstdint>
#include <span>

#include "hw/transport.h"

namespace slackline::hw {

/// The most segments that we give to one request.
inline constexpr std::size_t kMostFabricSegments = 4;

/// What must stay in place until an atomic completes.
struct AtomicOperands {
  std::uint64_t value = 0;
  std::uint64_t compare = 0;
};

struct Submission {
  const WorkRequest& request;
  std::uint64_t data = 0;              // a send: what its message carries
  bool delivered = true;               // …and whether complete means that its bytes stand there
  std::uint64_t salt = 0;              // the receiving end's
  std::span<void* const> descriptors;  // of the request's segments, as many
  fi_addr_t peer = FI_ADDR_UNSPEC;
  void* context = nullptr;
  AtomicOperands* operands = nullptr;
};

// A message finds its receive by a tag, and a write with immediate by what it carries. Both are
// made of the channel's number and of a number that the receiving end draws and gives its peers
// with its address: who was not told it finds no receive.

/// What every end draws: 62 bits, since `net` uses the highest bit of a tag itself.
inline constexpr std::uint64_t kSaltMask = (std::uint64_t{1} << 62) - 1;

/// A message's, on a channel to the end with this salt.
constexpr std::uint64_t message_tag(std::uint64_t salt, std::uint32_t channel) {
  return salt ^ channel;
}

/// The 64 bits that a write with immediate carries: its channel, and the immediate.
constexpr std::uint64_t completion_data(std::uint64_t salt, std::uint32_t channel,
                                        std::uint32_t immediate) {
  return std::uint64_t{channel ^ static_cast<std::uint32_t>(salt >> 30)} << 32 | immediate;
}
/// Whose channel that is.
constexpr std::uint32_t channel_of_data(std::uint64_t salt, std::uint64_t data) {
  return static_cast<std::uint32_t>(data >> 32) ^ static_cast<std::uint32_t>(salt >> 30);
}

/// libfabric's answer: 0, −FI_EAGAIN if there is no room now, or another error.
ssize_t submit(fid_ep* ep, const Submission& submission);

}  // namespace slackline::hw
