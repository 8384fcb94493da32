#include "hw/fabric/kept_signals.h"

#include <cstddef>

namespace slackline::hw {

KeptSignals::KeptSignals() {
  for (int signal = 1; signal < kSignals; ++signal) {
    sigaction(signal, nullptr, &actions_[static_cast<std::size_t>(signal)]);
  }
}

// What waits acts when held_ goes, after this.
KeptSignals::~KeptSignals() {
  for (int signal = 1; signal < kSignals; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    sigaction(signal, &actions_[static_cast<std::size_t>(signal)], nullptr);
  }
}

}  // namespace slackline::hw
