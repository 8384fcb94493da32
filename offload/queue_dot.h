// A queue program as a picture.
#pragma once

#include <string>

#include "offload/queue_program.h"

namespace slackline::offload {

/// Graphviz text: a cluster per rank, a box per queue with its entries from top to bottom, and
/// arrows for what crosses queues: messages from rank to rank (solid), from the entry whose
/// completion a wait counts to the wait (dashed), and from an enable to the last entry it enables
/// (dotted). The same program gives the same bytes.
std::string write_dot(const QueueProgram& program);

}  // namespace slackline::offload
