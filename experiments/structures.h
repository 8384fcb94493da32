// What operations on data structures take on Cori: what "RDMA vs. RPC" measures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/report.h"
#include "machine/platform.h"

namespace slackline::experiments {

/// How long a handler runs, and how much longer on a progress thread.
inline constexpr const char* kHandler = "500ns";
inline constexpr const char* kContention = "1us";

/// Cori with so many processes on each node.
machine::Platform cori(std::uint32_t ranks_per_node);

/// What operations took, in a run by the event engine.
struct Measured {
  /// A client's time for its operations over their number, averaged over clients, without what it
  /// computes between them.
  double operation_s = 0;
  double last_attempts = 0;  // of what an operation does last: a swap that may fail
  /// By call, of those calls whose target was busy when they came: until their handlers ran.
  double wait_s = 0;
};

/// Throws InternalError if the structure does not hold what it should in the end.
Measured measure_structure(const std::string& spec, const machine::Platform& platform);

/// Time of a message, averaged likewise: to a random other rank and a random one of its `words`.
enum class MessageKind { kPut, kGet, kFetchAdd, kSwap, kPersistentSwap };
struct MessageLoad {
  MessageKind component = MessageKind::kPut;
  std::uint32_t ranks = 2;
  std::uint32_t operations = 1;
  std::uint32_t words = 1;  // of each rank; they hold values that nobody knows
};
double message_s(const MessageLoad& load, const machine::Platform& platform);

/// "32 processes on each node".
std::string processes(std::uint32_t ranks_per_node);

/// The machine's and the handlers' figures, for a report.
std::vector<Constant> structure_constants(std::uint32_t ranks_per_node);

}  // namespace slackline::experiments
