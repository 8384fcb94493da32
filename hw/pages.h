// Where memory that transports move comes from: whole pages, as large as there are any, near the
// device or whoever asks; and registered slabs of them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hw/transport.h"

namespace slackline::hw {

/// A run of zeroed pages. From 2 MiB on they are huge ones: those that the administrator has set
/// aside if there are enough, else those that the kernel can make of small ones.
class Pages {
 public:
  Pages() = default;
  /// `node`: the NUMA node to take them from while it has any, −1 that of the caller. Throws
  /// EnvironmentError if there is not as much memory.
  explicit Pages(std::size_t bytes, int node = -1);

  /// As many as were asked for.
  std::span<std::byte> bytes() const { return {start_.get(), bytes_}; }
  /// Whether they were set aside.
  bool set_aside() const { return set_aside_; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* start) const;
  };
  using Mapping = std::unique_ptr<std::byte, Unmap>;
  static Mapping map(std::size_t bytes, int flags);
  static Mapping map_aligned(std::size_t bytes);

  Mapping start_;
  std::size_t bytes_ = 0;
  bool set_aside_ = false;
};

/// Registered memory in units of one size. Registering is slow and its number limited, so it is
/// done for a slab of many units at once; slabs are added as they are needed, and stay.
class Slabs {
 public:
  /// Both sizes ≥ 1; units begin at cache lines. The transport must outlive this.
  Slabs(Transport& transport, std::size_t unit_bytes, std::size_t units_per_slab, int node = -1);
  ~Slabs();
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  struct Unit {
    Segment local;
    RemoteMemory remote;
  };
  /// Throws as Pages and Transport::register_memory() do.
  Unit take();
  void give_back(const Unit& unit) { free_.push_back(unit); }

 private:
  struct Slab {
    Pages pages;
    LocalMemory registered;
  };

  Transport& transport_;
  std::size_t unit_bytes_;
  std::size_t stride_;
  std::size_t units_per_slab_;
  int node_;
  std::vector<Slab> slabs_;
  std::vector<Unit> free_;
};

}  // namespace slackline::hw
