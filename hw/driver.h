// Keeps one rank going: polls or sleeps as it was told, and looks out for ranks that are lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "hw/executor.h"
#include "hw/mesh.h"
#include "hw/run.h"
#include "hw/transport.h"

namespace slackline::hw {

/// How long the operations of a schedule and its delays can keep all ranks waiting at the most, if
/// everything came one after the other.
std::chrono::duration<double> longest_quiet(const sched::Schedule& schedule,
                                            const machine::Delays& delays);

/// Sleeps, and spins at the end: returns at that time, or later where cores are few.
void sleep_until(Executor::Clock::time_point at);

class Driver {
 public:
  /// `patience`: how long nothing may happen. All references must outlive this.
  Driver(Mesh& mesh, Transport& transport, Executor& executor, const RunOptions& options,
         std::chrono::duration<double> patience);

  /// Makes progress until there() says so, which is asked often and should be cheap. Throws
  /// PeerLost, naming who the mesh says is lost; Stalled; and what the transport throws while
  /// nobody is lost.
  template <class There>
  void until(There&& there) {
    restart();
    while (!there()) {
      if (progress()) {
        idle_ = 0;
        sleepy_ = false;
      } else {
        idle();
      }
    }
  }

 private:
  using Clock = Executor::Clock;

  void restart();
  bool progress();
  void idle();
  void sleep(Clock::time_point now);
  void require_movement(Clock::time_point now);

  Mesh& mesh_;
  Transport& transport_;
  Executor& executor_;
  const RunOptions& options_;
  const std::chrono::duration<double> patience_;
  std::uint64_t idle_ = 0;  // rounds in a row
  bool sleepy_ = false;
  Clock::time_point last_moved_;  // as far as somebody looked at the clock
};

/// Throws PeerLost if the mesh has lost a rank.
void require_nobody_lost(const Mesh& mesh);

}  // namespace slackline::hw
