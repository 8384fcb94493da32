// A run of bytes of a region of memory: what allocators over regions give out. They count offsets,
// and never touch the memory itself.
#pragma once

#include <cstdint>
#include <optional>

namespace slackline::hw {

struct Extent {
  std::uint64_t offset = 0;  // from the region's first byte
  std::uint64_t bytes = 0;

  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Where an extent begins unless somebody asks for another multiple: cache lines, so that no two
/// extents begin in the same one.
inline constexpr std::uint64_t kExtentAlignment = 64;

/// The first multiple of `alignment` in [begin, end) behind which there is room for so many bytes.
inline std::optional<std::uint64_t> aligned_place(std::uint64_t begin, std::uint64_t end,
                                                  std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t over = begin % alignment;
  const std::uint64_t gap = over == 0 ? 0 : alignment - over;
  if (begin > end || gap > end - begin || bytes > end - begin - gap) return std::nullopt;
  return begin + gap;
}

/// Throws InputError, naming `who`, for no bytes and for an alignment that is no power of two.
void require_extent(const char* who, std::uint64_t bytes, std::uint64_t alignment);

}  // namespace slackline::hw
