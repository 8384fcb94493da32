// The bytes of a message, which may lie in several places, as one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hw/transport.h"

namespace slackline::hw {

class GatheredBytes {
 public:
  GatheredBytes() = default;
  explicit GatheredBytes(std::span<const Segment> segments);

  std::uint64_t size() const { return bytes_; }
  /// Copies `to.size()` bytes from `offset` on. All of them must be there.
  void read(std::uint64_t offset, std::span<std::byte> to) const;
  /// Copies them to `offset` and on.
  void write(std::uint64_t offset, std::span<const std::byte> from) const;

 private:
  // Calls act(place, bytes, done so far) for each piece of the run.
  template <class Act>
  void each(std::uint64_t offset, std::size_t bytes, Act&& act) const;

  std::vector<Segment> segments_;
  std::uint64_t bytes_ = 0;
};

}  // namespace slackline::hw
