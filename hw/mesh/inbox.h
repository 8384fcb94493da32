// What a mesh's thread has heard, for the other threads of the process: messages, and who is gone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "hw/descriptor.h"
#include "hw/mesh.h"
#include "hw/mesh/wire.h"

namespace slackline::hw {

/// May be called by any thread.
class Inbox {
 public:
  /// Whose messages of one kind and topic stand in a row.
  struct Row {
    std::uint32_t from = 0;
    FrameKind kind = FrameKind::kMessage;
    std::uint32_t topic = 0;
    friend auto operator<=>(const Row&, const Row&) = default;
  };

  /// Throws EnvironmentError if there are no more file descriptors.
  Inbox(std::uint32_t rank, std::uint32_t ranks);

  /// What a message, and a row of them, take beside their bytes; about.
  static constexpr std::uint64_t kMessageMemory = 64;
  static constexpr std::uint64_t kRowMemory = 1024;

  void deliver(const Row& row, Bytes message);
  /// About how much memory the messages of other ranks take that nobody has taken yet; of one of
  /// them.
  std::uint64_t unread() const;
  std::uint64_t unread(std::uint32_t from) const;
  /// Nothing comes from the rank any more.
  void leave(std::uint32_t rank);
  void lose(const Loss& loss);

  /// The next message, waiting for it. Throws PeerLost when any rank is lost, or this one has left.
  Bytes take(const Row& row);
  std::optional<Bytes> try_take(const Row& row);
  /// Nothing when the time is over, or the rank is gone.
  std::optional<Bytes> take_within(std::chrono::milliseconds time, const Row& row);

  bool any_lost() const { return any_lost_.load(std::memory_order_acquire); }
  std::vector<Loss> lost() const;
  /// Lost, or has left. If it is lost, lost() says so from here on. Cheap.
  bool is_gone(std::uint32_t rank) const { return gone_[rank].load(std::memory_order_acquire); }
  void throw_if_lost() const;
  int lost_descriptor() const { return lost_event_.get(); }

 private:
  std::optional<Bytes> pop(const Row& row);
  void count(std::uint32_t from, std::uint64_t bytes);
  void discount(std::uint32_t from, std::uint64_t bytes);
  [[noreturn]] void throw_first() const;

  const std::uint32_t rank_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Row, std::deque<Bytes>> rows_;
  std::vector<std::uint64_t> unread_;    // by rank
  std::uint64_t all_unread_ = 0;         // but for this rank's own
  std::vector<std::atomic<bool>> gone_;  // by rank; written under the mutex
  std::vector<Loss> losses_;
  std::atomic<bool> any_lost_{false};
  Descriptor lost_event_;
};

}  // namespace slackline::hw
