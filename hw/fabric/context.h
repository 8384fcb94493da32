// What the parts of the transport over libfabric share: whom they talk to, and whose a completion
// is.
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace slackline::hw {

/// What every request given to libfabric begins with, so that its completion can be told from
/// others.
struct FabricContext {
  enum class Use : std::uint8_t { kRequest, kAtomics, kAcknowledgement };
  fi_context2 context;
  Use use = Use::kRequest;
};

/// A peer's endpoint.
struct FabricPeer {
  fi_addr_t place = FI_ADDR_UNSPEC;
  std::uint64_t salt = 0;  // the number that it gives to its peers (hw/fabric/submit.h)
};

}  // namespace slackline::hw
