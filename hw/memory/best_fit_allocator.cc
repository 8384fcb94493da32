#include "hw/memory/best_fit_allocator.h"

#include <fmt/format.h>

#include <iterator>

#include "base/error.h"

namespace slackline::hw {

BestFitAllocator::BestFitAllocator(std::uint64_t region_bytes)
    : region_bytes_(region_bytes), free_bytes_(region_bytes) {
  if (region_bytes == 0) throw InputError("best-fit allocator: a region of 0 bytes");
  add_run(0, region_bytes);
}

void BestFitAllocator::add_run(std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return;
  runs_.emplace(offset, bytes);
  sizes_[bytes].insert(offset);
}

void BestFitAllocator::remove_run(std::uint64_t offset, std::uint64_t bytes) {
  runs_.erase(offset);
  const auto size = sizes_.find(bytes);
  size->second.erase(offset);
  if (size->second.empty()) sizes_.erase(size);
}

std::optional<Extent> BestFitAllocator::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  require_extent("best-fit allocator", bytes, alignment);
  // A run of the right size may lie so that it has no room behind a multiple of the alignment.
  for (auto size = sizes_.lower_bound(bytes); size != sizes_.end(); ++size) {
    for (const std::uint64_t offset : size->second) {
      const std::uint64_t run_bytes = size->first;
      const std::uint64_t end = offset + run_bytes;
      const std::optional<std::uint64_t> place = aligned_place(offset, end, bytes, alignment);
      if (!place) continue;
      remove_run(offset, run_bytes);
      add_run(offset, *place - offset);
      add_run(*place + bytes, end - *place - bytes);
      live_.emplace(*place, bytes);
      free_bytes_ -= bytes;
      return Extent{*place, bytes};
    }
  }
  return std::nullopt;
}

void BestFitAllocator::free(const Extent& extent) {
  const auto found = live_.find(extent.offset);
  if (found == live_.end() || found->second != extent.bytes) {
    throw InputError(fmt::format("best-fit allocator: {} bytes at {} are not given out",
                                 extent.bytes, extent.offset));
  }
  live_.erase(found);
  free_bytes_ += extent.bytes;
  std::uint64_t begin = extent.offset;
  std::uint64_t end = extent.offset + extent.bytes;
  const auto after = runs_.lower_bound(extent.offset);
  if (after != runs_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) begin = before->first;
  }
  if (after != runs_.end() && after->first == end) {
    const std::uint64_t bytes = after->second;
    remove_run(end, bytes);
    end += bytes;
  }
  if (begin != extent.offset) remove_run(begin, extent.offset - begin);
  add_run(begin, end - begin);
}

}  // namespace slackline::hw
