#include "hw/memory/region_allocator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace slackline::hw {

RegionAllocator::RegionAllocator(const RegionOptions& options, MemoryBudget& budget,
                                 Register register_memory)
    : options_(options), budget_(budget), register_memory_(std::move(register_memory)) {
  if (options.region_bytes == 0) throw InputError("regions of 0 bytes; expected 1 or more");
}

std::optional<RegionBlock> RegionAllocator::allocate(std::uint64_t bytes, int node) {
  require_extent("region allocator", bytes, kExtentAlignment);
  std::optional<RegionBlock> block;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t r = 0; r < regions_.size() && !block; ++r) {
      if (node == kAnyNode || regions_[r].pages.facts().node == node) block = take(r, bytes);
    }
    if (!block && add_region(bytes, node)) block = take(regions_.size() - 1, bytes);
  }
  // Somebody may have had it before.
  if (block) std::memset(block->bytes.data(), 0, block->bytes.size());
  return block;
}

std::optional<RegionBlock> RegionAllocator::take(std::size_t region, std::uint64_t bytes) {
  Region& from = regions_[region];
  const std::optional<Extent> extent = from.extents.allocate(bytes);
  if (!extent) return std::nullopt;
  RegionBlock block;
  block.bytes = from.pages.bytes().subspan(extent->offset, extent->bytes);
  block.registered = from.registered;
  block.registered.remote.address += extent->offset;
  block.pages = from.pages.facts();
  block.region = region;
  block.extent = *extent;
  return block;
}

// Where the budget has no whole region left, one that is as large as it must be.
bool RegionAllocator::add_region(std::uint64_t bytes, int node) {
  std::uint64_t size = std::max(options_.region_bytes, bytes);
  if (!budget_.take(size)) {
    size = bytes;
    if (!budget_.take(size)) return false;
  }
  try {
    SuperpageWish wish;
    wish.bytes = size;
    wish.node = node == kAnyNode ? options_.near : node;
    wish.only_node = node != kAnyNode;
    wish.best = options_.best;
    Superpages pages(wish);
    const LocalMemory registered = register_memory_(pages.bytes());
    regions_.push_back({std::move(pages), registered, BestFitAllocator(size)});
  } catch (...) {
    budget_.give_back(size);
    throw;
  }
  return true;
}

void RegionAllocator::free(const RegionBlock& block) {
  const std::lock_guard lock(mutex_);
  if (block.region >= regions_.size())
    throw InputError("region allocator: there is no such region");
  regions_[block.region].extents.free(block.extent);
}

std::size_t RegionAllocator::regions() const {
  const std::lock_guard lock(mutex_);
  return regions_.size();
}

std::uint64_t RegionAllocator::region_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const Region& region : regions_) sum += region.extents.region_bytes();
  return sum;
}

std::uint64_t RegionAllocator::free_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const Region& region : regions_) sum += region.extents.free_bytes();
  return sum;
}

}  // namespace slackline::hw
