// Signals that end a process, kept waiting while it has something to tidy up.
#pragma once

#include <signal.h>

namespace slackline::sched {

/// While it lives the thread that made it holds SIGINT, SIGTERM, SIGHUP and SIGQUIT; what came
/// meanwhile has its effect after. Other threads of the process hold nothing.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Whether one waits that will end the process.
  bool end_waits() const;

 private:
  sigset_t before_;
};

}  // namespace slackline::sched
