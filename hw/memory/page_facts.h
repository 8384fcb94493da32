// What pages memory has got: larger ones have a device translate less, and a machine often has
// none.
#pragma once

#include <cstdint>
#include <string>

namespace slackline::hw {

/// Memory may stand on whatever NUMA node is near.
inline constexpr int kAnyNode = -1;

enum class PageKind : std::uint8_t {
  kNormal,       // the machine's usual pages
  kTransparent,  // huge ones that the kernel has made of usual ones
  kSetAside,     // huge ones that the administrator has set aside (hugetlbfs)
};

struct PageFacts {
  PageKind kind = PageKind::kNormal;
  std::uint64_t page_bytes = 0;  // of one page of this kind
  /// How many of the memory's bytes stand in such pages when it was made. Fewer than all only for
  /// kTransparent: the rest stands in usual pages.
  std::uint64_t bytes = 0;
  std::int32_t node = -1;  // the NUMA node of all of it; −1: several, or it is not known

  friend bool operator==(const PageFacts&, const PageFacts&) = default;
};

/// For people: "64 MiB in huge pages of 2 MiB, set aside, on NUMA node 0".
std::string to_string(const PageFacts& facts);

}  // namespace slackline::hw
