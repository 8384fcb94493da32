#include "hw/memory/circular_allocator.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::hw {

CircularAllocator::CircularAllocator(std::uint64_t region_bytes) : region_bytes_(region_bytes) {
  if (region_bytes == 0) throw InputError("circular allocator: a region of 0 bytes");
}

std::optional<Extent> CircularAllocator::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  require_extent("circular allocator", bytes, alignment);
  if (pieces_.empty()) head_ = 0;
  // Pieces hold [tail, head), or, where the circle has gone over the region's end, [tail, end) and
  // [0, head). Where head and tail meet, all is held.
  const std::uint64_t tail = pieces_.empty() ? 0 : pieces_.front().begin;
  const bool over_the_end = !pieces_.empty() && head_ <= tail;
  std::uint64_t begin = head_;
  std::optional<std::uint64_t> place =
      aligned_place(begin, over_the_end ? tail : region_bytes_, bytes, alignment);
  if (!place && !over_the_end && !pieces_.empty()) {
    begin = 0;
    place = aligned_place(begin, tail, bytes, alignment);
  }
  if (!place) return std::nullopt;
  const Extent extent{*place, bytes};
  pieces_.push_back({begin, extent, false});
  head_ = extent.offset + extent.bytes;
  ++live_;
  return extent;
}

void CircularAllocator::free(const Extent& extent) {
  // From the first piece on, offsets grow along the circle.
  const std::uint64_t tail = pieces_.empty() ? 0 : pieces_.front().begin;
  const auto along = [&](std::uint64_t offset) {
    return offset >= tail ? offset - tail : offset + (region_bytes_ - tail);
  };
  const auto found = std::lower_bound(
      pieces_.begin(), pieces_.end(), along(extent.offset),
      [&](const Piece& piece, std::uint64_t place) { return along(piece.extent.offset) < place; });
  if (found == pieces_.end() || found->extent != extent || found->freed) {
    throw InputError(fmt::format("circular allocator: {} bytes at {} are not given out",
                                 extent.bytes, extent.offset));
  }
  found->freed = true;
  --live_;
  while (!pieces_.empty() && pieces_.front().freed) pieces_.pop_front();
}

std::uint64_t CircularAllocator::held_bytes() const {
  if (pieces_.empty()) return 0;
  const std::uint64_t tail = pieces_.front().begin;
  return head_ > tail ? head_ - tail : region_bytes_ - tail + head_;
}

}  // namespace slackline::hw
