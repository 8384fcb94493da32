#include "hw/multicast/gathered_bytes.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace slackline::hw {

GatheredBytes::GatheredBytes(std::span<const Segment> segments) {
  for (const Segment& segment : segments) {
    if (segment.bytes == 0) continue;
    segments_.push_back(segment);
    bytes_ += segment.bytes;
  }
}

template <class Act>
void GatheredBytes::each(std::uint64_t offset, std::size_t bytes, Act&& act) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    throw InternalError("bytes of a message that it does not have");
  }
  std::size_t done = 0;
  for (const Segment& segment : segments_) {
    if (done == bytes) return;
    if (offset >= segment.bytes) {
      offset -= segment.bytes;
      continue;
    }
    const std::size_t part = std::min<std::size_t>(segment.bytes - offset, bytes - done);
    act(segment.data + offset, part, done);
    done += part;
    offset = 0;
  }
}

void GatheredBytes::read(std::uint64_t offset, std::span<std::byte> to) const {
  each(offset, to.size(), [&](const std::byte* place, std::size_t bytes, std::size_t done) {
    std::memcpy(to.data() + done, place, bytes);
  });
}

void GatheredBytes::write(std::uint64_t offset, std::span<const std::byte> from) const {
  each(offset, from.size(), [&](std::byte* place, std::size_t bytes, std::size_t done) {
    std::memcpy(place, from.data() + done, bytes);
  });
}

}  // namespace slackline::hw
