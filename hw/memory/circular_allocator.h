// Memory that is used in turns, first in, first out (Seriema, section 4.2: the circular allocator).
//
// Extents are given out along a circle. They may be freed in any order: this is noted, and the
// space of one can be had again once all that were given out before it are free, too. As in the
// paper, one extent that stays holds up all behind it: so memory that is free at different paces
// takes an allocator for each pace. Extents may have any size, as in the paper's linear-circular
// allocator. The circle does not grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "hw/memory/extent.h"

namespace slackline::hw {

/// By one thread at a time.
class CircularAllocator {
 public:
  /// Over a region of so many bytes. Throws InputError for 0.
  explicit CircularAllocator(std::uint64_t region_bytes);

  /// The next extent along the circle, which begins at a multiple of `alignment` and never goes
  /// over the region's end. Nothing if there is no room now. Throws InputError for 0 bytes, and for
  /// an alignment that is no power of two.
  std::optional<Extent> allocate(std::uint64_t bytes, std::uint64_t alignment = kExtentAlignment);

  /// Throws InputError for what is not given out now.
  void free(const Extent& extent);

  std::uint64_t region_bytes() const { return region_bytes_; }
  /// Extents that are given out, and not freed.
  std::size_t live() const { return live_; }
  /// Bytes that nobody can have now: of extents, of those that were freed and wait for one before
  /// them, and the gaps between.
  std::uint64_t held_bytes() const;

 private:
  struct Piece {
    std::uint64_t begin = 0;  // of the gap before the extent
    Extent extent;
    bool freed = false;
  };

  const std::uint64_t region_bytes_;
  std::deque<Piece> pieces_;  // in the order in which they were given out
  std::uint64_t head_ = 0;    // where the last one ends
  std::size_t live_ = 0;
};

}  // namespace slackline::hw
