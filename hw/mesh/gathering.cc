#include "hw/mesh/gathering.h"

#include <algorithm>
#include <utility>

#include "hw/mesh/wire.h"

namespace slackline::hw {

Gathering::Gathering(std::uint32_t rank, std::uint32_t ranks, std::span<const std::byte> own)
    : rank_(rank), ranks_(ranks) {
  pieces_.emplace_back(own.begin(), own.end());
}

Bytes Gathering::told() const {
  WireWriter writer;
  for (std::size_t i = 0; i < count(); ++i) writer.u64(pieces_[i].size()).raw(pieces_[i]);
  return writer.take();
}

void Gathering::take(std::span<const std::byte> bytes) {
  std::size_t left = bytes.size();
  WireReader reader(bytes);
  std::vector<Bytes> taken;
  for (std::size_t i = 0; i < count(); ++i) {
    const std::uint64_t size = reader.u64();
    left -= sizeof size;
    if (size > left) throw WireError("less than it says");
    left -= size;
    const auto piece = reader.raw(size);
    taken.emplace_back(piece.begin(), piece.end());
  }
  if (left != 0) throw WireError("more than was asked for");
  std::move(taken.begin(), taken.end(), std::back_inserter(pieces_));
}

std::vector<Bytes> Gathering::all() && {
  std::rotate(pieces_.begin(),
              pieces_.begin() + static_cast<std::ptrdiff_t>((ranks_ - rank_) % ranks_),
              pieces_.end());
  return std::move(pieces_);
}

}  // namespace slackline::hw
