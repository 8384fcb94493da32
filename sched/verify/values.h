// What stands in memory: symbols, pushed from segment to segment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sched/schedule.h"
#include "sched/verify/intervals.h"
#include "sched/verify/segments.h"

namespace slackline::sched {

/// Bytes of one origin, from `offset` on.
struct SymbolicValue {
  enum class Origin : std::uint8_t {
    kNothing,   // never written
    kContract,  // value `id` of the contract
    kSum,       // entry `id` of the table of sums
    kReduced,   // what op `id` (reduce) wrote, where it is no sum of the contract's values
    kWord,      // what op `id` and the atomics beside it left in the remote word
    kFetched,   // the local result of op `id` (an atomic)
    kLowered,   // zeros that op `id` (a poll) left of its flag
    kUnknown,   // what op `id` read where nothing stood
    kMixed,     // several pieces: entry `id` of the value map's own table
  };
  std::uint64_t offset = 0;
  std::uint32_t id = 0;
  Origin origin = Origin::kNothing;
  friend constexpr bool operator==(const SymbolicValue&, const SymbolicValue&) = default;
};

/// A run of bytes of one value.
struct Piece {
  SymbolicValue value;
  std::uint64_t bytes = 0;
};
/// What a gathered payload holds, in order; neighbours that continue each other are joined.
using Pieces = std::vector<Piece>;

void append(Pieces& pieces, Piece piece);

class ValueMap {
 public:
  /// `joins`: neighbouring segments of one value are kept as one.
  ValueMap(const SegmentTable& segments, bool joins)
      : segments_(segments), intervals_(segments, joins), values_(segments.size()) {}

  /// A run of bytes, and what stands at its beginning.
  struct Found {
    Slice slice;
    SymbolicValue value;
  };

  /// Appends what stands in a slice. Where nothing does, appends unknown bytes of `reader` and
  /// answers with the first such bytes: never written, or a flag that was lowered.
  std::optional<Found> gather(SegmentRun run, OpId reader, Pieces& pieces) const;

  /// Writes a payload over slices, one slice after another. Counts the bytes that stood there
  /// already.
  class Scatter {
   public:
    Scatter(ValueMap& map, const Pieces& pieces) : map_(map), pieces_(pieces) {}
    void into(SegmentRun run);
    std::uint64_t unchanged_bytes() const { return unchanged_; }
    /// The first segment that held the same already, if any did.
    std::uint32_t first_unchanged() const { return first_unchanged_; }

   private:
    std::uint32_t reach(std::uint32_t segment, std::uint32_t last) const;
    SymbolicValue take(std::uint64_t bytes);
    void place(SegmentRun run, const SymbolicValue& value);

    ValueMap& map_;
    const Pieces& pieces_;
    std::size_t piece_ = 0;
    std::uint64_t used_ = 0;  // of that piece
    std::uint64_t unchanged_ = 0;
    std::uint32_t first_unchanged_ = 0;
  };

  /// Fills a slice with one value, from its offset on.
  void set(SegmentRun run, SymbolicValue value);

  /// The first bytes of a slice that are not of one of these origins.
  std::optional<Found> other_than(SegmentRun run,
                                  std::span<const SymbolicValue::Origin> origins) const;

  /// The first run of bytes of a slice where something else stands than `value` from its beginning
  /// on, and what stands at the run's beginning.
  struct Mismatch {
    Slice slice;
    SymbolicValue expected;
    SymbolicValue found;
  };
  std::optional<Mismatch> mismatch(const Slice& slice, const SymbolicValue& value) const;

 private:
  struct Mix {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  // What stands at the beginning of a segment of the interval that begins at `begin`.
  SymbolicValue value_at(std::uint32_t segment, std::uint32_t begin) const {
    SymbolicValue value = values_[begin];
    if (segment != begin) value.offset += segments_.begin(segment) - segments_.begin(begin);
    return value;
  }
  // Calls visit(piece) for what stands in segments [first, last) of one interval.
  template <class Visit>
  void for_each_piece(std::uint32_t first, std::uint32_t last, std::uint32_t begin,
                      Visit&& visit) const;
  bool same(const SymbolicValue& a, const SymbolicValue& b) const;
  void cut(std::uint32_t segment);

  const SegmentTable& segments_;
  Intervals intervals_;
  std::vector<SymbolicValue> values_;  // by the first segment of an interval
  std::vector<Mix> mixes_;  // an interval, of one segment, whose bytes are of several origins
  Pieces mixed_;            // their pieces
};

/// "value 0 from byte 512", "what op 3 (reduce, rank 0) wrote, from byte 0", "nothing". Sums are
/// described by their table.
std::string describe(const Schedule& schedule, const SymbolicValue& value);

}  // namespace slackline::sched
