// Registered memory of a rank, NUMA node by NUMA node (Seriema, section 4.2: RDMAAllocators, one
// for each NUMA zone): regions of superpages, each registered as a whole when it is made, out of
// which blocks of any size are given, by best fit. Regions are added as they are needed, and stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

#include "hw/memory/best_fit_allocator.h"
#include "hw/memory/budget.h"
#include "hw/memory/extent.h"
#include "hw/memory/superpages.h"
#include "hw/transport.h"

namespace slackline::hw {

struct RegionOptions {
  /// Of a region; one is larger if a block is. ≥ 1.
  std::uint64_t region_bytes = std::uint64_t{64} << 20;
  /// Where memory of kAnyNode is taken from as long as there is some; −1: where the caller runs.
  int near = -1;
  /// The largest pages that are tried.
  PageKind best = PageKind::kSetAside;
};

/// A part of a region. Its bytes stay until it is freed.
struct RegionBlock {
  std::span<std::byte> bytes;
  LocalMemory registered;  // its remote address is that of the block's first byte
  PageFacts pages;         // of the region
  std::size_t region = 0;
  Extent extent;
};

/// By any threads.
class RegionAllocator {
 public:
  using Register = std::function<LocalMemory(std::span<std::byte>)>;

  /// `budget`, which must outlive this: regions are taken from it, and stay taken.
  RegionAllocator(const RegionOptions& options, MemoryBudget& budget, Register register_memory);

  /// Zeroed, at a cache line. Nothing if no region has room, and the budget none for another one.
  /// Throws InputError for 0 bytes, and as Superpages and `register_memory` do.
  std::optional<RegionBlock> allocate(std::uint64_t bytes, int node = kAnyNode);
  /// Throws InputError for what is not given out now.
  void free(const RegionBlock& block);

  std::size_t regions() const;
  /// Of all regions.
  std::uint64_t region_bytes() const;
  std::uint64_t free_bytes() const;

 private:
  struct Region {
    Superpages pages;
    LocalMemory registered;
    BestFitAllocator extents;
  };

  std::optional<RegionBlock> take(std::size_t region, std::uint64_t bytes);
  bool add_region(std::uint64_t bytes, int node);

  const RegionOptions options_;
  MemoryBudget& budget_;
  const Register register_memory_;
  mutable std::mutex mutex_;
  std::deque<Region> regions_;
};

}  // namespace slackline::hw
