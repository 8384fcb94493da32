#include "hw/pages.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "base/error.h"
#include "hw/memory/numa_policy.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;
constexpr int kHugePages = MAP_HUGETLB | 21 << MAP_HUGE_SHIFT;  // of 2^21 bytes
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kMostBytes = std::size_t{1} << 62;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void Pages::Unmap::operator()(std::byte* start) const { munmap(start, bytes); }

Pages::Mapping Pages::map(std::size_t bytes, int flags) {
  void* const start =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  return Mapping(static_cast<std::byte*>(start), Unmap{bytes});
}

// Huge pages begin at multiples of their size: maps more, and gives back what is over.
Pages::Mapping Pages::map_aligned(std::size_t bytes) {
  Mapping whole = map(bytes + kHuge, 0);
  if (!whole) return whole;
  const std::size_t total = whole.get_deleter().bytes;
  std::byte* const start = whole.release();
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::size_t before = round_up(address, kHuge) - address;
  if (before != 0) munmap(start, before);
  munmap(start + before + bytes, total - before - bytes);
  return Mapping(start + before, Unmap{bytes});
}

Pages::Pages(std::size_t bytes, int node) : bytes_(bytes) {
  if (bytes == 0) throw InternalError("no bytes of pages");
  if (bytes < kHuge) {
    start_ = map(bytes, 0);
  } else if (bytes < kMostBytes) {
    start_ = map(round_up(bytes, kHuge), kHugePages);
    set_aside_ = start_ != nullptr;
    if (!start_) start_ = map_aligned(round_up(bytes, kHuge));
  }
  if (!start_) throw EnvironmentError(fmt::format("no memory for {} bytes", bytes));
  // Before any of it is touched.
  const std::size_t mapped = start_.get_deleter().bytes;
  prefer_node({start_.get(), mapped}, node);
  if (bytes >= kHuge && !set_aside_) madvise(start_.get(), mapped, MADV_HUGEPAGE);
}

Slabs::Slabs(Transport& transport, std::size_t unit_bytes, std::size_t units_per_slab, int node)
    : transport_(transport),
      unit_bytes_(unit_bytes),
      stride_(round_up(unit_bytes, kCacheLine)),
      units_per_slab_(units_per_slab),
      node_(node) {}

Slabs::~Slabs() {
  for (const Slab& slab : slabs_) transport_.unregister_memory(slab.registered);
}

Slabs::Unit Slabs::take() {
  if (free_.empty()) {
    Pages pages(stride_ * units_per_slab_, node_);
    const LocalMemory registered = transport_.register_memory(pages.bytes());
    // The first is taken first.
    for (std::size_t u = units_per_slab_; u-- > 0;) {
      RemoteMemory remote = registered.remote;
      remote.address += u * stride_;
      free_.push_back(
          {{pages.bytes().data() + u * stride_, unit_bytes_, registered.handle}, remote});
    }
    slabs_.push_back({std::move(pages), registered});
  }
  const Unit unit = free_.back();
  free_.pop_back();
  return unit;
}

}  // namespace slackline::hw
