#include "base/held_signals.h"

#include <algorithm>
#include <iterator>

namespace slackline::sched {
namespace {

constexpr int kHeld[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kHeld) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool HeldSignals::end_waits() const {
  sigset_t waiting;
  sigemptyset(&waiting);
  sigpending(&waiting);
  return std::any_of(std::begin(kHeld), std::end(kHeld), [&](int signal) {
    if (sigismember(&waiting, signal) != 1 || sigismember(&before_, signal) == 1) return false;
    // A signal that is held waits even if the process ignores it, as nohup has it ignore SIGHUP.
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
           action.sa_handler == SIG_DFL;
  });
}

}  // namespace slackline::sched
