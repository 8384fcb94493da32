// libibverbs as a transport: a reliable queue pair for each end of a channel. What a channel's
// source initiates completes in order, so only what somebody waits for is signalled, and every so
// many of the rest (hw/selective_signalling.h).
//
// A rank that sends to a dead one learns it when its NIC has tried for the failure timeout, some
// seconds at least; one that only receives does not. A port of this rank that goes down may come
// back within the failure timeout: until then nothing is posted, and nothing has failed.
#pragma once

#include <memory>

#include "hw/transport.h"
#include "hw/verbs_options.h"

namespace slackline::hw {

/// Throws InputError for what cannot be a device, EnvironmentError if the machine has no such
/// device, no port of it is active, or it lacks what the options ask for or what is needed.
/// connect() throws EnvironmentError, alike at all ranks that have the same addresses, if the ports
/// of two ranks with a channel between them cannot reach each other.
std::unique_ptr<Transport> make_verbs_transport(const VerbsOptions& options);

}  // namespace slackline::hw
