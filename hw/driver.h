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
#include "hw/watched_time.h"

namespace slackline::hw {

/// How long the operations of a schedule and its delays can keep all ranks waiting at the most, if
/// everything came one after the other; and the largest message, at 10 Mb/s.
std::chrono::duration<double> longest_quiet(const sched::Schedule& schedule,
                                            const machine::Delays& delays,
                                            const machine::BundleDelays* bundle_delays = nullptr);

/// Sleeps, and spins at the end: returns at that time, or later where cores are few. Between the
/// two it calls `before_spin`, which has some 300 us.
void sleep_until(Executor::Clock::time_point at, const std::function<void()>& before_spin = {});

/// Throws PeerLost if the mesh has lost a rank.
void require_nobody_lost(const Mesh& mesh);

/// Returns when the mesh knows of no loss for so long, and no rank has left. Throws PeerLost.
void await_loss(const Mesh& mesh, std::chrono::milliseconds timeout);

/// Does what makes use of a transport. A transport often notices first that a peer is gone, and
/// seldom knows which: then it is named as soon as the mesh knows, or after the timeout what the
/// transport threw is thrown on.
template <class Act>
auto naming_the_lost(const Mesh& mesh, std::chrono::milliseconds timeout, Act&& act) {
  try {
    return act();
  } catch (const InternalError&) {
    throw;
  } catch (const InputError&) {
    throw;
  } catch (const Error&) {
    await_loss(mesh, timeout);
    throw;
  }
}

class Driver {
 public:
  /// Hears what other ranks have to tell; is told whether this one has moved since it was called
  /// last, and answers whether another has. Called now and then, and while nothing happens.
  using Listen = std::function<bool(bool moved)>;

  /// `patience`: how long nothing may happen. Time in which this process stood still hardly counts
  /// (WatchedTime). All references must outlive this.
  Driver(Mesh& mesh, Transport& transport, Executor& executor, const RunOptions& options,
         std::chrono::duration<double> patience, Listen listen);

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
        if (++busy_ % kRoundsPerGlance == 0) glance(Clock::now());
      } else {
        idle();
      }
    }
  }

 private:
  using Clock = Executor::Clock;
  // Busy rounds between looks at the clock, which says when to listen: a rank that is busy for
  // ever, as with a lock that nobody gives back, learns of losses and says that it moves all the
  // same.
  static constexpr std::uint64_t kRoundsPerGlance = 64;

  void restart();
  void glance(Clock::time_point now);
  bool is_due(Clock::time_point now) const;
  bool listen(Clock::time_point now);
  bool progress();
  void idle();
  void sleep(Clock::time_point now);
  void require_movement();
  void tell_quiet();
  std::string awaited() const;

  Mesh& mesh_;
  Transport& transport_;
  Executor& executor_;
  const RunOptions& options_;
  const std::chrono::duration<double> patience_;
  const Listen listen_;
  std::uint64_t idle_ = 0;  // rounds in a row
  std::uint64_t busy_ = 0;  // rounds
  std::uint64_t told_ = 0;  // of them
  bool sleepy_ = false;
  std::chrono::seconds quiet_{0};  // that was told
  WatchedTime unmoved_;            // as far as somebody looked at the clock
  Clock::time_point listened_at_;  // to other ranks
};

/// Throws InputError if the delays hold a rank's processor for longer than anybody waits for a run.
void require_bearable(const sched::Schedule& schedule, const machine::Delays& delays);

}  // namespace slackline::hw
