// The signals by which users and machines end a program: SIGHUP, SIGINT and SIGTERM. Those that are
// ignored (under nohup, say) stay so.
#pragma once

#include <signal.h>

#include <optional>
#include <string>

#include "hw/descriptor.h"

namespace slackline::hw {

/// Holds them back, so that a process can end what it has begun before it ends by one.
class EndSignals {
 public:
  /// Call it before there are threads: each has its own mask. Throws EnvironmentError if the system
  /// has no descriptor left.
  EndSignals();
  /// They act again; one that has come and was not taken ends the process.
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  /// Readable once one has come.
  int descriptor() const { return descriptor_.get(); }
  /// The one that has come, once.
  std::optional<int> take() const;
  /// In a fork of this process: there they act as if this were not.
  void let_act() const;

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

/// "ended by signal 15 (Terminated)".
std::string ended_by(int signal);

/// Ends this process as the signal does of itself, so that its parent sees which one it was.
[[noreturn]] void die_by(int signal);

/// From now on such a signal writes "slackline: ended by signal …" to standard error before it ends
/// the process: for one that has nothing else to end.
void say_end_at_signals();

}  // namespace slackline::hw
