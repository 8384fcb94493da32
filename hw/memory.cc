#include "hw/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sched/error.h"

namespace slackline::hw {
namespace {

// Buffers start at cache lines, so that words within them are aligned as their offsets are.
constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 63;

// Eight bytes of a value: SplitMix64's finalizer over the word's number.
std::uint64_t value_word(sched::ValueId value, std::uint64_t word) {
  std::uint64_t x = word + 0x9e3779b97f4a7c15u * (std::uint64_t{value.value} + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::byte byte_of(std::uint64_t word, std::uint64_t offset) {
  const auto byte = static_cast<std::byte>(word >> (8 * (offset % 8)) & 0xff);
  return byte == std::byte{0} ? std::byte{0xa5} : byte;
}

// Calls visit(i, byte) for each byte of the fact's slice until it answers false.
template <class Visit>
void for_each_byte(const sched::Fact& fact, Visit&& visit) {
  std::uint64_t word = 0;
  for (std::uint64_t i = 0; i < fact.slice.bytes; ++i) {
    const std::uint64_t offset = fact.value_offset + i;
    if (i == 0 || offset % 8 == 0) word = value_word(fact.value, offset / 8);
    if (!visit(i, byte_of(word, offset))) return;
  }
}

}  // namespace

std::byte value_byte(sched::ValueId value, std::uint64_t offset) {
  return byte_of(value_word(value, offset / 8), offset);
}

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
    Place& place = places_[b];
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

void RankMemory::fill() {
  if (!own().empty()) std::memset(own().data(), 0, own().size());
  for (const sched::Fact& fact : schedule_.contract().pre) {
    if (!is_mine(fact.slice.buffer) || places_[fact.slice.buffer.value].given) continue;
    const std::span<std::byte> bytes = at(fact.slice);
    for_each_byte(fact, [&](std::uint64_t i, std::byte value) {
      bytes[i] = value;
      return true;
    });
  }
}

std::optional<std::string> RankMemory::first_breach() {
  std::optional<std::string> breach;
  for (const sched::Fact& fact : schedule_.contract().post) {
    if (!is_mine(fact.slice.buffer)) continue;
    const std::span<std::byte> bytes = at(fact.slice);
    for_each_byte(fact, [&](std::uint64_t i, std::byte value) {
      if (bytes[i] == value) return true;
      breach = fmt::format(
          "rank {}: byte {} of buffer {} is {:#04x}; expected {:#04x}, byte {} of value {}",
          rank_.value, fact.slice.offset + i, fact.slice.buffer.value,
          std::to_integer<unsigned>(bytes[i]), std::to_integer<unsigned>(value),
          fact.value_offset + i, fact.value.value);
      return false;
    });
    if (breach) return breach;
  }
  return breach;
}

}  // namespace slackline::hw
