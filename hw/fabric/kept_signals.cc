#include "hw/fabric/kept_signals.h"

#include <pthread.h>

namespace slackline::hw {

KeptSignals::KeptSignals() {
  sigset_t waiting;
  sigemptyset(&waiting);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&waiting, signal);
  pthread_sigmask(SIG_BLOCK, &waiting, &mask_);
  for (int signal = 1; signal < kSignals; ++signal) {
    sigaction(signal, nullptr, &actions_[static_cast<std::size_t>(signal)]);
  }
}

KeptSignals::~KeptSignals() {
  for (int signal = 1; signal < kSignals; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    sigaction(signal, &actions_[static_cast<std::size_t>(signal)], nullptr);
  }
  pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

}  // namespace slackline::hw
