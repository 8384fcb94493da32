// Readiness: no message is sent before its receive is posted. Credits are explicit operations on
// channels of their own; behind a step's data on the data channel they would deadlock.
#pragma once

#include <cstdint>

#include "sched/schedule.h"

namespace slackline::sched {

/// How a receiver says that it is ready.
enum class Ready : std::uint8_t {
  kSend,   // a zero-byte message per receive (RDMC's code)
  kWrite,  // a one-sided write that the sender polls for (RDMC's paper, section 4.2)
  kNone,   // not at all
};

/// What a rank's first message waits for, and so in what order receives are posted.
enum class Start : std::uint8_t {
  kPairwise,  // the readiness of its own target (RDMC's code). A rank posts its receives in
              // schedule order, whoever sends: it waits for one rank at a time, as RDMC does
  kAll,       // the readiness of all its rank's targets (RDMC's paper). So a rank posts the first
              // receives of every channel at once, and goes on with each by itself
};

struct CreditOptions {
  Ready ready = Ready::kSend;
  Start start = Start::kPairwise;
  std::uint32_t window = 1;  // receives posted ahead, by rank or (kAll) by channel, ≥ 1
  /// Ranks from this one on keep a window for each channel with kPairwise, too: switches, of which
  /// each port has its own.
  std::uint32_t own_windows_from = 0xffffffffu;
};

/// Gives every channel that carries messages a window and a credit channel back. A receive is
/// posted when the one `window` places before it is done; then its credit goes out; the message
/// waits for it. With one send in flight and window 1 the order of sends and of receives is fixed,
/// so a delay anywhere costs no more than itself (RDMC, section 4.5). Program order is rearranged
/// so that each operation stands where it becomes ready.
Schedule lower_credits(const Schedule& schedule, const CreditOptions& options = {});

}  // namespace slackline::sched
