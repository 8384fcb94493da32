// libfabric as a transport: a reliable-datagram endpoint a rank, and over TCP one more for small
// messages. A channel is a tag, which keeps
// its messages in order and apart from others; a write with immediate carries its channel beside
// the immediate in 64 bits of remote completion data.
#pragma once

#include <memory>
#include <string>

#include "hw/transport.h"

namespace slackline::hw {

struct FabricOptions {
  /// A provider: "shm" (processes of one host), "net" (libfabric's newer TCP), "tcp;ofi_rxm"; "tcp"
  /// is "net" where that exists, else "tcp;ofi_rxm".
  std::string provider = "shm";
  /// TCP: the address to bind to, a name or in digits. Empty: what the provider prefers.
  std::string host;
};

/// Loads the library and looks for the provider, of which nothing is kept but what the library
/// keeps. Throws EnvironmentError if it is not installed.
void load_fabric_provider(const std::string& provider);

/// Throws EnvironmentError if the machine has no such provider, or it lacks what is needed.
std::unique_ptr<Transport> make_fabric_transport(const FabricOptions& options);

}  // namespace slackline::hw
