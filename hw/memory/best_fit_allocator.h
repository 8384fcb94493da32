// Memory of any size, freed in any order (Seriema, section 4.2: the general allocator, best fit).
//
// Of the free runs in which an extent fits, the smallest is taken, and of several of that size the
// first. What is freed grows together with the free runs beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "hw/memory/extent.h"

namespace slackline::hw {

/// By one thread at a time.
class BestFitAllocator {
 public:
  /// Over a region of so many bytes. Throws InputError for 0.
  explicit BestFitAllocator(std::uint64_t region_bytes);

  /// An extent that begins at a multiple of `alignment`. Nothing if there is no room now. Throws
  /// InputError for 0 bytes, and for an alignment that is no power of two.
  std::optional<Extent> allocate(std::uint64_t bytes, std::uint64_t alignment = kExtentAlignment);

  /// Throws InputError for what is not given out now.
  void free(const Extent& extent);

  std::uint64_t region_bytes() const { return region_bytes_; }
  /// Extents that are given out.
  std::size_t live() const { return live_.size(); }
  std::uint64_t free_bytes() const { return free_bytes_; }
  /// Of the largest free run; 0 if there is none.
  std::uint64_t largest_free() const { return sizes_.empty() ? 0 : sizes_.rbegin()->first; }

 private:
  void add_run(std::uint64_t offset, std::uint64_t bytes);
  void remove_run(std::uint64_t offset, std::uint64_t bytes);

  const std::uint64_t region_bytes_;
  // Free runs, no two beside each other: bytes by offset, and offsets by bytes.
  std::map<std::uint64_t, std::uint64_t> runs_;
  std::map<std::uint64_t, std::set<std::uint64_t>> sizes_;
  std::map<std::uint64_t, std::uint64_t> live_;  // bytes by offset
  std::uint64_t free_bytes_;
};

}  // namespace slackline::hw
