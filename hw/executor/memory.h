// A rank's own buffers in real memory, and the contract's facts about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/pages.h"
#include "hw/transport.h"
#include "sched/kept_memory.h"
#include "sched/schedule.h"
#include "sched/value_bytes.h"

namespace slackline::hw {

/// The same on every machine; never 0, so that memory of which no fact speaks (zeros) is never
/// taken for a value, and a flag is seen by its bytes.
using sched::value_byte;

/// Memory for a buffer of the schedule that somebody else owns and has registered.
struct GivenMemory {
  sched::BufferId buffer;
  std::span<std::byte> bytes;  // as many as the buffer has
  LocalMemory registered;      // of the first of them
};

/// The memory of one rank: its buffers, but for those that are given, then `extra_bytes` of
/// scratch, in one run of pages.
class RankMemory {
 public:
  /// Throws EnvironmentError if there is not as much memory, InternalError if what is given does
  /// not fit. The schedule must outlive this. `numa_node` is for Pages.
  RankMemory(const sched::Schedule& schedule, sched::RankId rank,
             std::span<const GivenMemory> given, std::uint64_t extra_bytes, int numa_node = -1);

  /// What is to be registered: all but what is given. Empty if there is nothing else.
  std::span<std::byte> own() { return pages_.bytes(); }
  /// Tells how own() was registered.
  void set_registered(const LocalMemory& registered);
  const LocalMemory& registered() const { return own_; }

  /// Puts a buffer elsewhere. Throws InternalError if it is not of this rank, or has another size.
  void give(const GivenMemory& given);

  /// The slice must be of this rank's buffers.
  std::span<std::byte> at(const sched::Slice& slice) {
    return {places_[slice.buffer.value].data + slice.offset, slice.bytes};
  }
  Segment segment(const sched::Slice& slice) {
    const LaunchPlace& place = places_[slice.buffer.value];
    return {place.data + slice.offset, slice.bytes, place.handle};
  }
  std::byte* scratch() { return pages_.bytes().data() + scratch_; }
  std::uint32_t scratch_handle() const { return own_.handle; }

  /// For peers: this rank's buffers in the order of their numbers, and some memory of it behind,
  /// for messages without bytes.
  std::vector<RemoteMemory> remote() const;

  /// As before the schedule ran: zeros, and the values of the pre facts. Leaves alone what is
  /// given. With `kept`: of the buffers alone that it keeps.
  void fill(const sched::KeptMemory* kept = nullptr);

  /// The first byte where a post fact about this rank does not hold, in one line; nothing if all
  /// do.
  std::optional<std::string> first_breach();

 private:
  struct LaunchPlace {
    std::byte* data = nullptr;
    std::uint32_t handle = 0;
    RemoteMemory remote;
    bool given = false;
  };
  bool is_mine(sched::BufferId buffer) const {
    return schedule_.buffers()[buffer.value].rank == rank_;
  }

  const sched::Schedule& schedule_;
  sched::RankId rank_;
  std::vector<LaunchPlace> places_;  // by buffer; those of other ranks are empty
  std::uint64_t scratch_ = 0;        // its offset in the pages
  LocalMemory own_;
  Pages pages_;
};

}  // namespace slackline::hw
