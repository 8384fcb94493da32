// Plain data of remote calls: choices, options, counters, remote memory, errors.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "hw/memory/page_facts.h"
#include "hw/transport.h"

namespace slackline::hw {

/// What a call does while its destination's window is full (Seriema, section 4.4.1).
enum class WhenFull : std::uint8_t {
  kFail,   // it answers false
  kRetry,  // it makes progress, which runs calls of others, until there is room
  /// It is copied and queued; progress() posts what is queued, in order. Answers false once
  /// CallsOptions::queue_bytes are queued for this destination.
  kRetryInBackground,
};

/// When a synchroniser counts a call as done (section 3.1).
enum class CountWhen : std::uint8_t {
  kTransmitted,  // its bytes, and a buffer's that it writes, stand in the destination's memory
  kConsumed,     // it has run there
};

/// Which calls travel together (section 4.4.2).
enum class Aggregate : std::uint8_t {
  kNone,  // each by a write of its own
  kTrad,  // gathered until CallsOptions::bundle_bytes are there, or flush()
  kOvfl,  // gathered only while the window is full, up to queue_bytes, then posted as bundles
};

/// For tests of checks only: what a rank does wrong with the `at`-th call that it runs (from 1).
struct CallFault {
  enum class Kind : std::uint8_t { kNone, kRunTwice, kDrop };
  Kind kind = Kind::kNone;
  std::uint64_t at = 0;
};

struct CallsOptions {
  /// What a destination's window is made of: chunks in the destination's memory, which records fill
  /// one after the other. A multiple of 8 from 1 KiB to 1 GiB. (The paper: 16 MiB.)
  std::size_t chunk_bytes = std::size_t{2} << 20;
  /// c: chunks obtained by one service request, ≥ 1.
  std::uint32_t chunks_per_request = 2;
  /// c_max: chunks obtained at most for one destination, ≥ 2. The window is chunk_limit ·
  /// chunk_bytes.
  std::uint32_t chunk_limit = 16;

  Aggregate aggregate = Aggregate::kNone;
  /// kTrad posts a bundle that has grown to this, and kOvfl likewise. From 64 to 2^20.
  std::size_t bundle_bytes = 4096;
  /// What may wait for room, per destination: kRetryInBackground, and kOvfl.
  std::size_t queue_bytes = std::size_t{16} << 20;

  /// The longest record: captures, buffer and some 40 bytes. From 1 KiB; a chunk is the limit in
  /// any case. Also the unit in which memory is registered at the sender.
  std::size_t record_bytes = std::size_t{64} << 10;
  /// Where completions come in order (verbs): all but every u_max-th write complete silently. ≥ 1.
  std::uint64_t u_max = 64;

  /// What other ranks may have of this one's memory, all together: windows, and memory that they
  /// allocate, with the whole regions of what is allocate_chunk()ed; and as much again for buffers
  /// that their calls have read. 0: half of what is free when the Calls are made; 1 GiB where that
  /// is not known.
  std::uint64_t most_granted_bytes = 0;

  /// Of a region of superpages, out of which this rank gives chunks: registered as a whole when the
  /// first chunk needs it, and kept. From 4 KiB to 1 TiB. (The paper: 1 GiB.)
  std::uint64_t region_bytes = std::uint64_t{64} << 20;

  /// How long a wait goes on while nothing at all happens.
  std::chrono::milliseconds patience{60'000};
  /// As MeshOptions::failure_timeout: how long the mesh has to name who is lost.
  std::chrono::milliseconds failure_timeout{2'000};
  /// Tells Calls of one mesh apart that live at the same time. Below 2^16.
  std::uint32_t name = 0;

  CallFault fault;
};

/// Memory of a rank that others reach one-sided. Plain bytes: may be captured by a call.
struct RemoteBuffer {
  std::uint32_t rank = 0;
  std::uint32_t id = 0;  // at its rank
  RemoteMemory memory;
  std::uint64_t bytes = 0;
};

/// Memory of a rank's regions of superpages, and what these have got. Plain bytes, too.
struct RemoteChunk {
  RemoteBuffer buffer;
  PageFacts pages;  // of the whole region
};

/// What a rank holds for one destination.
struct CallCounters {
  std::uint64_t window_bytes = 0;
  std::uint64_t outstanding_bytes = 0;       // posted or gathered, in chunks not yet used up
  std::uint64_t most_outstanding_bytes = 0;  // ever
  std::uint32_t chunks = 0;                  // obtained
  std::uint64_t queued_bytes = 0;            // wait for room
  std::uint64_t calls = 0;                   // taken, replies included
  std::uint64_t writes = 0;                  // requests posted
  std::uint64_t in_flight = 0;               // of these, not known to be complete
  std::uint64_t registered_bytes = 0;        // of records, until their writes are complete
};

/// A call has thrown at its destination.
class CallFailed : public Error {
 public:
  CallFailed(std::uint32_t rank, const std::string& message) : Error(message, 1), rank_(rank) {}
  /// Where it ran.
  std::uint32_t rank() const { return rank_; }

 private:
  std::uint32_t rank_;
};

/// A number that the thread whose turn it is changes (hw/call/turn_lock.h), and any thread reads.
class SharedCount {
 public:
  SharedCount(std::uint64_t number = 0) : number_(number) {}  // NOLINT: it is a number
  SharedCount(const SharedCount& other) : number_(other) {}
  SharedCount& operator=(const SharedCount& other) { return set(other); }

  operator std::uint64_t() const { return number_.load(std::memory_order_acquire); }  // NOLINT
  SharedCount& operator+=(std::uint64_t by) { return set(*this + by); }
  SharedCount& operator-=(std::uint64_t by) { return set(*this - by); }
  SharedCount& operator++() { return *this += 1; }
  SharedCount& operator--() { return *this -= 1; }

 private:
  SharedCount& set(std::uint64_t number) {
    number_.store(number, std::memory_order_release);
    return *this;
  }
  std::atomic<std::uint64_t> number_;
};

/// What a synchroniser counts. Whoever takes the last one from `pending` touches no more of it.
struct SyncState {
  SharedCount pending = 0;
  SharedCount failed = 0;
  std::uint32_t failed_rank = 0;  // of the first that failed, and what it threw
  std::string error;
};

}  // namespace slackline::hw
