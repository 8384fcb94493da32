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

  void deliver(const Row& row, Bytes message);
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
  void throw_if_lost() const;
  int lost_descriptor() const { return lost_event_.get(); }

 private:
  std::optional<Bytes> pop(const Row& row);
  [[noreturn]] void throw_first() const;

  const std::uint32_t rank_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Row, std::deque<Bytes>> rows_;
  std::vector<bool> gone_;  // by rank
  std::vector<Loss> losses_;
  std::atomic<bool> any_lost_{false};
  Descriptor lost_event_;
};

}  // namespace slackline::hw
