// Calls of a transport that may never come back. The ranks of shm share libfabric's spin locks: who
// takes one that a rank held when it was killed spins for ever, within the library, where no
// exception reaches it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "hw/mesh.h"
#include "hw/transport.h"

namespace slackline::hw {

/// A transport that passes everything on. When a rank of `mesh` is lost and a call, the ending of
/// the transport included, then takes longer than `patience`, calls `stuck` from a thread of its
/// own, once. The call will not come back: `stuck` best ends the process. `mesh` must outlive what
/// is returned.
std::unique_ptr<Transport> watch_calls(std::unique_ptr<Transport> transport, const Mesh& mesh,
                                       std::chrono::milliseconds patience,
                                       std::function<void()> stuck);

}  // namespace slackline::hw
