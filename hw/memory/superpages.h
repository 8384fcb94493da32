// A region of memory in the largest pages that the machine has for it (Seriema, section 4.2:
// superpages, each registered once).
//
// Tried in this order: huge pages that were set aside, of 1 GiB if the region is a multiple of
// that, else of 2 MiB; huge pages that the kernel makes of usual ones; usual pages. What it came to
// stands in facts(), and is what the kernel says, not what it was asked for. All pages are there
// when the region is: a device pins them in any case, and nothing is said of pages that are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "hw/memory/page_facts.h"

namespace slackline::hw {

struct SuperpageWish {
  std::uint64_t bytes = 0;  // ≥ 1
  /// The NUMA node to take them from; −1: that of the caller.
  int node = -1;
  /// From there alone. Else from anywhere once it has no more.
  bool only_node = false;
  /// The largest that are tried.
  PageKind best = PageKind::kSetAside;
};

class Superpages {
 public:
  Superpages() = default;
  /// Zeroed. Throws InputError for 0 bytes, and EnvironmentError if there is not as much memory, or
  /// not from the only node, or no such node.
  explicit Superpages(const SuperpageWish& wish);
  Superpages(Superpages&& other) noexcept { *this = std::move(other); }
  Superpages& operator=(Superpages&& other) noexcept;

  /// As many as were asked for. They begin at a page, from 2 MiB on at a multiple of that.
  std::span<std::byte> bytes() const { return {start_, bytes_}; }
  bool empty() const { return bytes_ == 0; }
  const PageFacts& facts() const { return facts_; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* start) const;
  };
  using Mapping = std::unique_ptr<std::byte, Unmap>;

  static Mapping map(std::size_t bytes, int protection, int flags);
  bool set_aside(const SuperpageWish& wish, unsigned page_shift);
  bool usual(const SuperpageWish& wish, bool huge);

  Mapping mapping_;  // with what guards it
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
  PageFacts facts_;
};

}  // namespace slackline::hw
