// Whose turn it is among a rank's threads: one after the other, in the order in which they ask. A
// plain mutex lets the thread that makes progress have it again and again, while those whose calls
// wait come to nothing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace slackline::hw {

class TurnLock {
 public:
  /// Waits for the thread's turn. Who has it may take it again.
  void lock() {
    const std::thread::id self = std::this_thread::get_id();
    if (owner_.load(std::memory_order_relaxed) == self) {
      ++depth_;
      return;
    }
    State free = State::kFree;
    if (!state_.compare_exchange_strong(free, State::kTaken, std::memory_order_acquire)) {
      if (wait(self)) return;
    }
    owner_.store(self, std::memory_order_relaxed);
    depth_ = 1;
  }

  /// Hands it on: it is never free while somebody waits.
  void unlock() {
    if (--depth_ != 0) return;
    owner_.store({}, std::memory_order_relaxed);
    State taken = State::kTaken;
    if (!state_.compare_exchange_strong(taken, State::kFree, std::memory_order_release)) hand_on();
  }

  /// How often the calling thread, which has it, has taken it.
  std::uint32_t depth() const { return depth_; }

  /// How many threads wait for it.
  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  /// By who has it once: whoever waits for it has a turn first.
  void pass() {
    if (state_.load(std::memory_order_relaxed) != State::kAwaited) return;
    unlock();
    lock();
  }

 private:
  // kAwaited: taken, and somebody is in waiting_.
  enum class State : std::uint8_t { kFree, kTaken, kAwaited };
  struct Waiter {
    std::thread::id thread;
    std::condition_variable turn;
    bool has = false;
  };

  // Whether it was handed on to this thread; else it was free after all.
  bool wait(std::thread::id self) {
    std::unique_lock lock(mutex_);
    for (State seen = state_.load(); seen != State::kAwaited;) {
      const bool free = seen == State::kFree;
      if (!state_.compare_exchange_weak(seen, free ? State::kTaken : State::kAwaited)) continue;
      if (free) return false;
      break;
    }
    Waiter waiter;
    waiter.thread = self;
    waiting_.push_back(&waiter);
    waiter.turn.wait(lock, [&] { return waiter.has; });
    return true;
  }

  void hand_on() {
    const std::lock_guard lock(mutex_);
    Waiter& next = *waiting_.front();
    waiting_.pop_front();
    if (waiting_.empty()) state_.store(State::kTaken);
    owner_.store(next.thread, std::memory_order_relaxed);
    depth_ = 1;
    next.has = true;
    // Under the lock: the waiter is gone as soon as it may go on.
    next.turn.notify_one();
  }

  std::atomic<State> state_{State::kFree};
  std::atomic<std::thread::id> owner_{};
  std::uint32_t depth_ = 0;
  std::mutex mutex_;
  std::deque<Waiter*> waiting_;
};

/// Others have their turns while this lives, of a thread that has it once.
class OthersTurns {
 public:
  explicit OthersTurns(TurnLock& turns) : turns_(turns) { turns_.unlock(); }
  ~OthersTurns() { turns_.lock(); }
  OthersTurns(const OthersTurns&) = delete;
  OthersTurns& operator=(const OthersTurns&) = delete;

 private:
  TurnLock& turns_;
};

}  // namespace slackline::hw
