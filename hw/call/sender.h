// One direction of calls, at its source: records are laid out in registered memory and written into
// chunks of the destination's memory (Seriema's RDMAMessenger and RDMAAggregator, section 4.4).
//
// The chunks are the window. When the current one is full, an end record in it names the next: one
// that the destination has used up, which it tells by writing how many it has, or a new one from
// its service thread, up to c_max.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "hw/call/line.h"
#include "hw/call/record.h"
#include "hw/call/types.h"
#include "hw/pages.h"

namespace slackline::hw {

/// A write that comes before a record.
struct CallWrite {
  Segment from;
  CallTarget to;
};

/// A chunk at the destination.
struct CallChunk {
  std::uint32_t id = 0;
  CallTarget place;
};

class CallSender {
 public:
  /// Obtains so many chunks, or fewer if there are no more to be had.
  using Grow = std::function<std::vector<CallChunk>(std::uint32_t count)>;

  /// `consumed`: where the destination writes how many chunks it has used up. All references must
  /// outlive this.
  CallSender(const CallsOptions& options, RecordStamps stamps, CallPort& port, CallLine& line,
             Slabs& slabs, const std::byte* consumed, Grow grow);

  static std::size_t most_record_bytes(const CallsOptions& options);

  /// Takes a record, if there is room in the window and nothing is queued. `told`, which may be
  /// null: has one less pending once the record is transmitted.
  bool add(const RecordDraft& draft, const CallWrite* before, SyncState* told);
  /// Takes it in any case: queues it if it must.
  void add_or_queue(const RecordDraft& draft, const CallWrite* before, SyncState* told);
  /// …where add() says no, or throws: behind those that are queued.
  void queue(const RecordDraft& draft, const CallWrite* before, SyncState* told);
  /// Posts what is queued as far as there is room; answers whether anything was.
  bool drain();
  /// Posts what is gathered.
  void flush();

  bool queue_is_empty() const { return queue_.empty(); }
  std::uint64_t queued_bytes() const { return queued_bytes_; }
  CallCounters counters() const;
  void forget(const SyncState* state);

 private:
  struct Chunk {
    CallChunk chunk;
    std::uint64_t filled = 0;
  };
  struct Queued {
    std::vector<std::byte> record;  // without stamp and tail
    std::optional<CallWrite> before;
    SyncState* told = nullptr;
  };

  enum class When : std::uint8_t { kGathered, kNow };  // …a record is posted

  bool has_room(std::size_t bytes);
  bool take_next_chunk();
  void reclaim();
  void take_unit();
  std::byte* place_for(std::size_t bytes, const CallWrite* before);
  // If it throws, the record is as if it had never been there.
  void append(std::byte* record, std::size_t bytes, SyncState* told, When when = When::kGathered);
  std::size_t room_in_unit() const { return unit_ ? options_.record_bytes - unit_used_ : 0; }

  const CallsOptions& options_;
  RecordStamps stamps_;
  CallPort& port_;
  CallLine& line_;
  Slabs& slabs_;
  const std::byte* const consumed_;
  const Grow grow_;

  // Chunks: filled and perhaps not used up, the current one last; and those to come.
  std::deque<Chunk> in_use_;
  std::deque<CallChunk> free_;
  std::uint32_t obtained_ = 0;
  std::uint64_t reclaimed_ = 0;
  std::uint64_t outstanding_ = 0;
  std::uint64_t most_outstanding_ = 0;

  // The unit that records are laid out in, and the bundle at its end, not yet posted.
  std::optional<Slabs::Unit> unit_;
  std::size_t unit_used_ = 0;
  std::size_t bundle_ = 0;
  std::vector<SyncState*> bundle_told_;

  bool draining_ = false;
  std::deque<Queued> queue_;
  std::uint64_t queued_bytes_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace slackline::hw
