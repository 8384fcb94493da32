// libfabric brings libraries along that catch signals as soon as they are loaded. One of them
// (PSM's) answers SIGINT and SIGTERM by exit(), from within the handler: exit code 1 where a signal
// was to end the process, and a deadlock where the signal came while a lock was held.
#pragma once

#include <signal.h>

#include <array>

#include "base/held_signals.h"

namespace slackline::hw {

/// Around a call that loads libraries: afterwards signals do what they did before. Those that end a
/// process and come meanwhile wait.
class KeptSignals {
 public:
  KeptSignals();
  ~KeptSignals();
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  const sched::HeldSignals held_;
  static constexpr int kSignals = 32;  // all that are no real-time signals
  std::array<struct sigaction, kSignals> actions_{};
};

}  // namespace slackline::hw
