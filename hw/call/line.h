// The requests that a rank posts to one peer: their numbers, which of them are signalled, who waits
// for them, and the registered memory that their completions set free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "hw/call/port.h"
#include "hw/call/types.h"
#include "hw/pages.h"
#include "hw/selective_signalling.h"
#include "hw/transport.h"

namespace slackline::hw {

/// Memory at the other end. `here`: the same bytes, if this rank is that end, and no transport is
/// between.
struct CallTarget {
  RemoteMemory remote;
  std::byte* here = nullptr;

  CallTarget operator+(std::uint64_t bytes) const {
    return {{remote.address + bytes, remote.key}, here == nullptr ? nullptr : here + bytes};
  }
};

/// By the rank's own thread only.
class CallLine {
 public:
  /// `copies`: the peer is this rank itself, and requests are carried out at once.
  CallLine(CallPort& port, Slabs& slabs, std::uint32_t peer, std::uint32_t channel,
           std::uint64_t u_max, bool copies);
  CallLine(const CallLine&) = delete;
  CallLine& operator=(const CallLine&) = delete;

  /// The most requests under way.
  static constexpr std::size_t kMostInFlight = 256;

  bool copies() const { return copies_; }

  /// Requests start in the order in which they are posted. When one is complete, each of `tell`
  /// has one less pending. Waits for room, moving bytes meanwhile. Throws as CallRest::rest(), and
  /// then the request is not under way, and tells nobody.
  void write(const Segment& from, const CallTarget& to, std::span<SyncState* const> tell);
  void read(const Segment& to, const CallTarget& from, SyncState* tell);
  /// The old value lands in `result`, 8 bytes.
  void atomic(RequestKind kind, const Segment& result, const CallTarget& word,
              std::uint64_t operand, std::uint64_t compare, SyncState* tell);

  /// Memory that the requests posted until now use, and no later one: given back when they are
  /// complete.
  void release(const Slabs::Unit& unit);

  std::size_t in_flight() const { return posted_.size(); }
  std::uint64_t posted() const { return next_; }
  /// Units not given back.
  std::size_t units() const { return used_.size(); }
  /// Whether something is under way of which no completion will come by itself.
  bool needs_signal() const { return port_.in_order() && silent_ != 0; }

  static std::uint32_t peer_of(std::uint64_t tag) { return static_cast<std::uint32_t>(tag >> 40); }
  void complete(std::uint64_t tag);
  /// Tells it nothing any more.
  void forget(const SyncState* state);

 private:
  struct Posted {
    std::uint64_t flush = 0;
    bool turn = false;  // signalled by its turn or wish
    bool done = false;
  };
  struct Told {
    std::uint64_t number = 0;
    SyncState* state = nullptr;
  };
  struct Used {
    Slabs::Unit unit;
    std::uint64_t tag = 0;
  };

  void post(WorkRequest request, std::span<const Segment> local, const CallTarget& target,
            std::span<SyncState* const> tell);
  static void carry_out(const WorkRequest& request, std::byte* here);
  void take_back(std::uint64_t silent);
  void retire();

  CallPort& port_;
  Slabs& slabs_;
  const std::uint32_t peer_;
  const std::uint32_t channel_;
  const bool copies_;
  SelectiveSignalling signalling_;
  std::uint64_t next_ = 0;    // number of the next request
  std::uint64_t first_ = 0;   // of the first of posted_
  std::uint64_t silent_ = 0;  // posted behind the last that is signalled
  std::deque<Posted> posted_;
  std::deque<Told> told_;
  std::deque<Used> used_;
};

}  // namespace slackline::hw
