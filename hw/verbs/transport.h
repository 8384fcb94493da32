// libibverbs as a transport: a reliable queue pair for each end of a channel. What a channel's
// source initiates completes in order, so only what somebody waits for is signalled, and every so
// many of the rest (hw/selective_signalling.h).
//
// A rank that sends to a dead one learns it some seconds later; one that only receives does not.
#pragma once

#include <memory>
#include <string>

#include "hw/transport.h"

namespace slackline::hw {

struct VerbsOptions {
  /// "NAME" or "NAME:PORT"; empty: the first active port.
  std::string device;
  /// Ethernet: an address of this host whose GID is preferred, if the port has it.
  std::string host;
};

/// Throws InputError for what cannot be a device, EnvironmentError if the machine has no such
/// device, no port of it is active, or it lacks what is needed.
std::unique_ptr<Transport> make_verbs_transport(const VerbsOptions& options);

}  // namespace slackline::hw
