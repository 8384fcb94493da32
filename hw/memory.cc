#include "hw/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

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

MemoryLayout::MemoryLayout(const sched::Schedule& schedule)
    : offsets_(schedule.buffers().size()), bytes_(schedule.rank_count(), 0) {
  for (std::size_t b = 0; b < offsets_.size(); ++b) {
    const sched::Buffer& buffer = schedule.buffers()[b];
    std::uint64_t& used = bytes_[buffer.rank.value];
    offsets_[b] = used;
    if (buffer.bytes > kMostBytes || used > kMostBytes - buffer.bytes - kAlignment) {
      throw InputError(fmt::format("buffer {}: rank {} has more than 2^63 bytes of buffers", b,
                                   buffer.rank.value));
    }
    used = (used + buffer.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  for (std::uint64_t& bytes : bytes_) {
    if (bytes == 0) bytes = kAlignment;
  }
}

RankMemory::RankMemory(const sched::Schedule& schedule, const MemoryLayout& layout,
                       sched::RankId rank, std::uint64_t extra_bytes)
    : schedule_(schedule), layout_(layout), rank_(rank) {
  const std::uint64_t bytes = layout.bytes(rank) + extra_bytes;
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    throw EnvironmentError(
        fmt::format("rank {}: no memory for {} bytes of buffers", rank.value, bytes));
  }
  pages_ =
      std::unique_ptr<std::byte, UnmapPages>(static_cast<std::byte*>(pages), UnmapPages{bytes});
}

void UnmapPages::operator()(std::byte* pages) const { munmap(pages, bytes); }

void RankMemory::fill() {
  std::memset(pages_.get(), 0, pages_.get_deleter().bytes);
  for (const sched::Fact& fact : schedule_.contract().pre) {
    if (schedule_.buffers()[fact.slice.buffer.value].rank != rank_) continue;
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
    if (schedule_.buffers()[fact.slice.buffer.value].rank != rank_) continue;
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
