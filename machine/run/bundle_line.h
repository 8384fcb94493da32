// When a channel's messages gather, and when a bundle has to leave: the rule of Channel::bundle,
// the same in a simulation and on a machine. Whoever has it keeps the messages, and says what time
// it is.
#pragma once

#include <cstdint>
#include <limits>

#include "sched/schedule.h"

namespace slackline::machine {

class BundleLine {
 public:
  /// Of a channel that gathers. A bundle of `full_bytes` or more is full. Keeps a reference.
  BundleLine(const sched::Channel& channel, std::uint64_t full_bytes)
      : channel_(channel), full_bytes_(full_bytes) {}

  /// Whether a send or put goes into the bundle if it has its turn now. Behind what is gathered
  /// none goes alone, since queue pairs are FIFO.
  bool gathers() const {
    return channel_.bundle == sched::Bundle::kTraditional || open_ || !window_has_room();
  }
  /// It does.
  void add(std::uint64_t bytes, double now_s) {
    if (!open_ && channel_.bundle_delay != sched::kForever) {
      due_s_ = now_s + sched::seconds(channel_.bundle_delay);
    }
    open_ = true;
    bytes_ += bytes;
  }

  /// Whether anything is gathered.
  bool is_open() const { return open_; }
  /// Its bytes.
  std::uint64_t bytes() const { return bytes_; }
  /// When it is as old as it may become; infinite if it may wait for ever, or is not open.
  double due_s() const { return due_s_; }
  /// Whether what is gathered leaves without anybody's flush, for its size…
  bool is_full() const { return bytes_ >= full_bytes_; }
  /// …or since nothing holds it back any more.
  bool is_free_to_leave() const {
    return channel_.bundle == sched::Bundle::kOverflow && window_has_room();
  }
  /// Nothing more comes into it.
  void close() {
    open_ = false;
    bytes_ = 0;
    due_s_ = kNever;
  }

  /// A bundle, or a message alone, is posted.
  void left() { ++under_way_; }
  /// It is done, with the last of its operations.
  void over() { --under_way_; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  // A window of 0 has room for all.
  bool window_has_room() const { return channel_.window == 0 || under_way_ < channel_.window; }

  const sched::Channel& channel_;
  std::uint64_t full_bytes_;
  bool open_ = false;
  std::uint64_t bytes_ = 0;
  double due_s_ = kNever;
  std::uint32_t under_way_ = 0;
};

}  // namespace slackline::machine
