#include "hw/memory/superpages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/units.h"
#include "hw/memory/numa_policy.h"
#include "hw/memory/transparent_pages.h"
#include "hw/numa_nodes.h"

namespace slackline::hw {
namespace {

constexpr unsigned kGiantShift = 30;
constexpr unsigned kHugeShift = 21;
constexpr std::size_t kHuge = std::size_t{1} << kHugeShift;
constexpr std::uint64_t kMostRegion = std::uint64_t{1} << 46;  // more than any machine has

std::size_t usual_page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t whole_pages(std::size_t bytes, std::size_t page) {
  return (bytes + page - 1) / page * page;
}

// Has all pages be there, as they will be: whether there were as many.
bool populate(std::span<std::byte> pages) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(pages.data(), pages.size(), MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;
#endif
  // A kernel that does not know it.
  const std::size_t page = usual_page();
  for (std::size_t at = 0; at < pages.size(); at += page) {
    *static_cast<volatile std::byte*>(pages.data() + at) = std::byte{0};
  }
  return true;
}

std::string nodes_in_words(const std::vector<int>& nodes) {
  if (nodes.empty()) return "none that the kernel tells of";
  return fmt::format("{}", fmt::join(nodes, ", "));
}

}  // namespace

Superpages& Superpages::operator=(Superpages&& other) noexcept {
  mapping_ = std::move(other.mapping_);
  start_ = std::exchange(other.start_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  facts_ = std::exchange(other.facts_, PageFacts());
  return *this;
}

void Superpages::Unmap::operator()(std::byte* start) const { munmap(start, bytes); }

Superpages::Mapping Superpages::map(std::size_t bytes, int protection, int flags) {
  void* const start = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  return Mapping(static_cast<std::byte*>(start), Unmap{bytes});
}

Superpages::Superpages(const SuperpageWish& wish) {
  if (wish.bytes == 0) throw InputError("a region of 0 bytes; expected 1 or more");
  if (wish.bytes > kMostRegion) {
    throw EnvironmentError(fmt::format("no memory for {} bytes", wish.bytes));
  }
  const std::vector<int> nodes = NumaNodes::of_this_machine().numbers();
  if (wish.only_node && std::find(nodes.begin(), nodes.end(), wish.node) == nodes.end()) {
    throw EnvironmentError(fmt::format("there is no NUMA node {}; this machine has {}", wish.node,
                                       nodes_in_words(nodes)));
  }
  const bool made = (wish.best == PageKind::kSetAside &&
                     (set_aside(wish, kGiantShift) || set_aside(wish, kHugeShift))) ||
                    (wish.best != PageKind::kNormal && wish.bytes >= kHuge && usual(wish, true)) ||
                    usual(wish, false);
  if (!made) throw EnvironmentError(fmt::format("no memory for {} bytes", wish.bytes));
  bytes_ = wish.bytes;
  const std::size_t step = facts_.kind == PageKind::kSetAside ? facts_.page_bytes : usual_page();
  facts_.node = node_of(bytes(), step);
  // Where there is one, it is that one, whether or not the kernel may be asked.
  if (facts_.node < 0 && nodes.size() == 1) facts_.node = nodes.front();
  if (wish.only_node && facts_.node != wish.node) {
    throw EnvironmentError(fmt::format(
        "NUMA node {} has no {} that are free, or the kernel does not say where memory stands; "
        "expected all of them there",
        wish.node, sched::human_bytes(wish.bytes)));
  }
}

bool Superpages::set_aside(const SuperpageWish& wish, unsigned page_shift) {
  const std::size_t page = std::size_t{1} << page_shift;
  if (wish.bytes < page || (page > kHuge && wish.bytes % page != 0)) return false;
  const std::size_t total = whole_pages(wish.bytes, page);
  Mapping mapping = map(total, PROT_READ | PROT_WRITE,
                        MAP_HUGETLB | static_cast<int>(page_shift << MAP_HUGE_SHIFT));
  if (!mapping) return false;
  const std::span<std::byte> pages(mapping.get(), total);
  prefer_node(pages, wish.node);
  if (!populate(pages)) return false;
  start_ = pages.data();
  mapping_ = std::move(mapping);
  facts_ = {PageKind::kSetAside, page, wish.bytes, -1};
  return true;
}

// Between pages that nobody may touch: so the kernel tells of this mapping apart from others.
bool Superpages::usual(const SuperpageWish& wish, bool huge) {
  const std::size_t page = usual_page();
  const std::size_t total = whole_pages(wish.bytes, huge ? kHuge : page);
  sched::MemoryLimit().require(total, "a region of memory", "a smaller one");
  Mapping mapping = map(total + 2 * kHuge, PROT_NONE, 0);
  if (!mapping) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(mapping.get());
  const std::size_t before = whole_pages(address + 1, kHuge) - address;
  const std::span<std::byte> pages(mapping.get() + before, total);
  if (mprotect(pages.data(), total, PROT_READ | PROT_WRITE) != 0) return false;
  prefer_node(pages, wish.node);
  // What a kernel says that knows no huge pages is seen below.
  madvise(pages.data(), total, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  if (!populate(pages)) return false;
  facts_ = {PageKind::kNormal, page, wish.bytes, -1};
  if (huge) {
    std::ifstream smaps("/proc/self/smaps");
    const auto begin = reinterpret_cast<std::uintptr_t>(pages.data());
    const std::uint64_t in_huge = transparent_huge_bytes(smaps, begin, begin + total);
    if (in_huge != 0) {
      facts_ = {PageKind::kTransparent, kHuge, std::min(in_huge, wish.bytes), -1};
    }
  }
  start_ = pages.data();
  mapping_ = std::move(mapping);
  return true;
}

}  // namespace slackline::hw
