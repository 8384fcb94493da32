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
  std::span<void* const> descriptors;  // of the request's segments, as many
  fi_addr_t peer = FI_ADDR_UNSPEC;
  void* context = nullptr;
  AtomicOperands* operands = nullptr;
};

/// The 64 bits that a write with immediate carries: its channel, and the immediate.
constexpr std::uint64_t completion_data(std::uint32_t channel, std::uint32_t immediate) {
  return std::uint64_t{channel} << 32 | immediate;
}

/// libfabric's answer: 0, −FI_EAGAIN if there is no room now, or another error.
ssize_t submit(fid_ep* ep, const Submission& submission);

}  // namespace slackline::hw
