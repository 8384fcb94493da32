// The transport of remote calls, shared by a rank's own thread and its service thread: one lock
// around each use. Completions, whoever of both finds them, go to the lines, by the rank's own
// thread; those of messages to service threads go to these messages at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/call/types.h"
#include "hw/mesh.h"
#include "hw/transport.h"
#include "hw/watched_time.h"

namespace slackline::hw {

class CallLine;

class CallPort {
 public:
  CallPort(Mesh& mesh, std::unique_ptr<Transport> transport, const CallsOptions& options);

  /// In tags of requests that are no line's: they are for what set_service() was given.
  static constexpr std::uint64_t kServiceTag = std::uint64_t{1} << 63;
  using Complete = std::function<void(const Completion&)>;
  /// Before there are such requests, and other threads. By whoever finds a completion.
  void set_service(Complete complete) { service_ = std::move(complete); }

  // By any thread.

  /// Calls use(transport), under the lock.
  template <class Use>
  auto with_transport(Use&& use) {
    const std::lock_guard lock(mutex_);
    return use(*transport_);
  }
  bool in_order() const { return in_order_; }
  std::chrono::milliseconds patience() const { return patience_; }
  /// Who has nothing to do lets others have its core for a moment; `naps`: for longer, whether or
  /// not anybody wants it. Where another one kept the core for long, all who rest nap for a while:
  /// who gives a core up that many want gets it back only after all of them.
  void yield(bool naps);
  /// The transport has failed: whatever uses it from then on throws the same, as what was under way
  /// may never end, or PeerLost if the mesh names who is lost within the failure timeout.
  bool is_broken() const { return broken_.load(std::memory_order_acquire); }
  /// From here on this rank's peers count as gone, as does a rank that is lost: `rank` has left.
  /// The first one is named.
  void depart(std::uint32_t rank);
  /// Answers whether there was room for it.
  bool post(const WorkRequest& request);

  // By the service thread.

  /// Moves bytes for a rank whose own thread does not; answers whether there were completions.
  bool help();

  // By the rank's own thread.

  void set_lines(std::vector<CallLine*> lines) { lines_ = std::move(lines); }
  /// Ends the transport: nothing more is called.
  void close() { transport_.reset(); }
  /// Moves bytes, and tells lines what is complete; answers whether anything was.
  bool progress();
  /// Throws PeerLost if a rank is lost, or has left.
  void require_all_here();
  /// …or is seen to be within the failure timeout: the transport has failed.
  void require_all_stay();

 private:
  template <class Do>
  auto guarded(Do&& something);
  void require_whole();
  void break_by(std::exception_ptr failure);

  Mesh& mesh_;
  const std::chrono::milliseconds failure_timeout_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::unique_ptr<Transport> transport_;
  std::vector<Completion> helped_;  // found by the service thread
  std::atomic<bool> has_helped_{false};
  std::atomic<std::uint64_t> departed_{0};  // rank + 1
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::atomic<bool> broken_{false};
  std::atomic<std::uint64_t> polls_{0};  // of the rank's own thread
  std::uint64_t polls_seen_ = 0;         // by the service thread
  bool in_order_ = false;
  // Until when cores are taken to be fewer than those that want them, since the clock's beginning.
  std::atomic<std::chrono::steady_clock::rep> crowded_until_{0};
  Complete service_;
  std::vector<CallLine*> lines_;  // by peer
  std::vector<Completion> taken_;
};

/// What a wait does while nothing happens: looks out for lost ranks, and rests ever longer.
class CallRest {
 public:
  /// `what` is waited for, in words.
  CallRest(CallPort& port, std::string_view what)
      : port_(port), what_(what), waited_(port.patience()) {}
  void moved() { idle_ = 0; }
  /// Throws PeerLost, and Stalled when the patience is over. Time in which the process stood still
  /// hardly counts (WatchedTime).
  void rest();

 private:
  CallPort& port_;
  const std::string_view what_;
  std::uint64_t idle_ = 0;
  WatchedTime waited_;
};

}  // namespace slackline::hw
