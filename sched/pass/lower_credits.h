// Readiness: no message is sent before its receive is posted. Credits are explicit operations on
// channels of their own; behind a step's data on the data channel they would deadlock.
#pragma once

#include <cstdint>

#include "sched/schedule.h"

namespace slackline::sched {

/// How a receiver says that it is ready.
enum class Ready : std::uint8_t {
  kNone,   // not at all
  kSend,   // a zero-byte message per receive (RDMC's code)
  kWrite,  // a one-sided write that the sender polls for (RDMC's paper, section 4.2)
};

/// What a rank's first message waits for.
enum class Start : std::uint8_t {
  kPairwise,  // the readiness of its own target (RDMC's code)
  kAll,       // the readiness of all its rank's targets (RDMC's paper)
};

struct CreditOptions {
  Ready ready = Ready::kSend;
  Start start = Start::kPairwise;
  std::uint32_t window = 1;  // receives posted ahead on each channel, ≥ 1
};

/// Gives every channel that carries messages a window and a credit channel back. The receive of
/// message k is posted when that of message k − window is done; then its credit goes out; the
/// message waits for it. Program order is rearranged so that each operation stands where it becomes
/// ready.
Schedule lower_credits(const Schedule& schedule, const CreditOptions& options = {});

}  // namespace slackline::sched
