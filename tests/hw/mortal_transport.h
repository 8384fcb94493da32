// A transport whose process can be told to die or to stop between two of its calls. In shm's ranks
// that is the only place where one may: a rank that is killed with a lock of libfabric's stops its
// peers for good (hw/watched_transport.h), and whether it has one is chance.
#pragma once

#include <signal.h>

#include <atomic>
#include <string_view>

#include "hw/passing_transport.h"
#include "tests/hw/mesh_ranks.h"

namespace slackline::testing {

class MortalTransport final : public hw::PassingTransport {
 public:
  /// From here on SIGUSR1 has the process die as of SIGKILL, and SIGUSR2 stop as of SIGSTOP, at the
  /// next call.
  explicit MortalTransport(std::unique_ptr<hw::Transport> under)
      : PassingTransport(std::move(under)) {
    struct sigaction action = {};
    action.sa_handler = [](int number) { fate() = number == SIGUSR1 ? SIGKILL : SIGSTOP; };
    sigaction(SIGUSR1, &action, nullptr);
    sigaction(SIGUSR2, &action, nullptr);
  }

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    meet_fate();
    return PassingTransport::post(requests);
  }
  std::size_t poll(std::span<hw::Completion> completions) override {
    meet_fate();
    return PassingTransport::poll(completions);
  }

 private:
  // A handler of signals reaches nothing else. It may run in another thread than the calls.
  static std::atomic<int>& fate() {
    static_assert(std::atomic<int>::is_always_lock_free);
    static std::atomic<int> number = 0;
    return number;
  }
  static void meet_fate() {
    if (fate().load(std::memory_order_relaxed) == 0) return;
    if (const int number = fate().exchange(0); number != 0) raise(number);
  }
};

/// Kills a rank whose transport is mortal: of shm between two calls, of others at once.
inline void kill_rank(MeshRanks& ranks, std::size_t rank, std::string_view transport) {
  ranks.signal(rank, transport == "shm" ? SIGUSR1 : SIGKILL);
}
/// Stops one likewise; SIGCONT has it go on. Returns once it has stopped, or ended before it could:
/// a SIGCONT that came earlier would be in vain.
inline void stop_rank(MeshRanks& ranks, std::size_t rank, std::string_view transport) {
  ranks.signal(rank, transport == "shm" ? SIGUSR2 : SIGSTOP);
  ranks.await_stop(rank);
}

}  // namespace slackline::testing
