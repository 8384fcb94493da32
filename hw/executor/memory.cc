#include "hw/executor/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"

namespace slackline::hw {
namespace {

// Buffers start at cache lines, so that words within them are aligned as their offsets are.
constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 63;

std::string name_of(const sched::Fact& fact) {
  if (fact.terms == 1) return fmt::format("value {}", fact.value.value);
  return fmt::format("the sum of values {} to {}", fact.value.value,
                     fact.value.value + (fact.terms - 1));
}

// The same of what a post fact says: of its value, or of its sum.
void write_expected(const sched::Fact& fact, std::uint64_t begin, std::span<std::byte> bytes) {
  sched::write_value(fact.value, fact.value_offset + begin, bytes);
  std::vector<std::byte> term(fact.terms > 1 ? bytes.size() : 0);
  for (std::uint32_t i = 1; i < fact.terms; ++i) {
    sched::write_value(sched::ValueId(fact.value.value + i), fact.value_offset + begin, term);
    for (std::size_t b = 0; b < term.size(); ++b) {
      bytes[b] = static_cast<std::byte>(std::to_integer<unsigned>(bytes[b]) +
                                        std::to_integer<unsigned>(term[b]));
    }
  }
}

}  // namespace

RankMemory::RankMemory(const sched::Schedule& schedule, sched::RankId rank,
                       std::span<const GivenMemory> given, std::uint64_t extra_bytes, int numa_node)
    : schedule_(schedule), rank_(rank), places_(schedule.buffers().size()) {
  for (const GivenMemory& memory : given) give(memory);
  // Places in the pages, as offsets until there are pages.
  std::vector<std::uint64_t> offsets(places_.size(), 0);
  for (std::uint32_t b = 0; b < places_.size(); ++b) {
    if (!is_mine(sched::BufferId(b)) || places_[b].given) continue;
    const std::uint64_t bytes = schedule.buffers()[b].bytes;
    if (bytes > kMostBytes || scratch_ > kMostBytes - bytes - kAlignment) {
      throw InputError(
          fmt::format("buffer {}: rank {} has more than 2^63 bytes of buffers", b, rank.value));
    }
    offsets[b] = scratch_;
    scratch_ = (scratch_ + bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  std::uint64_t bytes = scratch_ + extra_bytes;
  if (bytes == 0 && !given.empty()) return;
  // Messages without bytes have an address all the same.
  bytes = std::max(bytes, kAlignment);
  pages_ = Pages(bytes, numa_node);
  for (std::uint32_t b = 0; b < places_.size(); ++b) {
    if (is_mine(sched::BufferId(b)) && !places_[b].given)
      places_[b].data = pages_.bytes().data() + offsets[b];
  }
}

void RankMemory::set_registered(const LocalMemory& registered) {
  own_ = registered;
  for (std::uint32_t b = 0; b < places_.size(); ++b) {
    LaunchPlace& place = places_[b];
    if (!is_mine(sched::BufferId(b)) || place.given) continue;
    place.handle = registered.handle;
    place.remote = registered.remote;
    place.remote.address += static_cast<std::uint64_t>(place.data - pages_.bytes().data());
  }
}

void RankMemory::give(const GivenMemory& given) {
  const std::uint32_t b = given.buffer.value;
  if (b >= places_.size() || !is_mine(given.buffer)) {
    throw InternalError(fmt::format("buffer {} is not of rank {}", b, rank_.value));
  }
  if (given.bytes.size() != schedule_.buffers()[b].bytes) {
    throw InternalError(fmt::format("{} bytes for buffer {}; expected {}", given.bytes.size(), b,
                                    schedule_.buffers()[b].bytes));
  }
  places_[b] = {given.bytes.data(), given.registered.handle, given.registered.remote, true};
}

std::vector<RemoteMemory> RankMemory::remote() const {
  std::vector<RemoteMemory> memory;
  for (std::uint32_t b = 0; b < places_.size(); ++b) {
    if (is_mine(sched::BufferId(b))) memory.push_back(places_[b].remote);
  }
  memory.push_back(!pages_.bytes().empty() ? own_.remote : memory.front());
  return memory;
}

void RankMemory::fill(const sched::KeptMemory* kept) {
  const auto filled = [&](sched::BufferId buffer) {
    return is_mine(buffer) && !places_[buffer.value].given &&
           (kept == nullptr || kept->keeps(buffer));
  };
  if (kept == nullptr && !own().empty()) std::memset(own().data(), 0, own().size());
  for (std::uint32_t b = 0; kept != nullptr && b < places_.size(); ++b) {
    const std::uint64_t bytes = schedule_.buffers()[b].bytes;
    if (filled(sched::BufferId(b)) && bytes != 0) std::memset(places_[b].data, 0, bytes);
  }
  for (const sched::Fact& fact : schedule_.contract().pre) {
    if (!filled(fact.slice.buffer)) continue;
    sched::write_value(fact.value, fact.value_offset, at(fact.slice));
  }
}

std::optional<std::string> RankMemory::first_breach() {
  std::array<std::byte, 4096> expected;
  for (const sched::Fact& fact : schedule_.contract().post) {
    if (!is_mine(fact.slice.buffer)) continue;
    const std::span<const std::byte> bytes = at(fact.slice);
    for (std::size_t begin = 0; begin < bytes.size(); begin += expected.size()) {
      const auto piece = bytes.subspan(begin, std::min(expected.size(), bytes.size() - begin));
      write_expected(fact, begin, std::span(expected).first(piece.size()));
      if (std::memcmp(piece.data(), expected.data(), piece.size()) == 0) continue;
      const auto found = std::mismatch(piece.begin(), piece.end(), expected.begin());
      const std::size_t i = begin + static_cast<std::size_t>(found.first - piece.begin());
      return fmt::format(
          "rank {}: byte {} of buffer {} is {:#04x}; expected {:#04x}, byte {} of {}", rank_.value,
          fact.slice.offset + i, fact.slice.buffer.value, std::to_integer<unsigned>(*found.first),
          std::to_integer<unsigned>(*found.second), fact.value_offset + i, name_of(fact));
    }
  }
  return std::nullopt;
}

}  // namespace slackline::hw
