#include "hw/group/small_messages.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "hw/device_barrier.h"

namespace slackline::hw {
namespace {

constexpr std::uint64_t kLine = 64;

constexpr std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

SmallMessages::SmallMessages(Transport& transport, SmallShape shape, std::uint32_t members,
                             std::uint32_t self, std::vector<std::uint32_t> channels,
                             std::uint64_t tag)
    : transport_(transport),
      shape_(shape),
      members_(members),
      self_(self),
      channels_(std::move(channels)),
      tag_(tag),
      capacity_(rounded(shape.bytes + sizeof(Trailer), kLine) - sizeof(Trailer)),
      slot_bytes_(capacity_ + sizeof(Trailer)),
      written_(self == 0 ? members : 1, 0),
      left_(self == 0 ? shape.slots : 1, 0) {
  const std::size_t bytes = counts_at() + kLine * members_;
  bytes_ = std::shared_ptr<std::byte[]>(
      static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kLine})),
      [](std::byte* memory) { ::operator delete (memory, std::align_val_t{kLine}); });
  std::memset(bytes_.get(), 0, bytes);
  memory_ = transport_.register_memory({bytes_.get(), bytes});
}

// Peers write these words meanwhile.
std::uint64_t SmallMessages::word_at(std::uint64_t offset) const {
  auto* const word = reinterpret_cast<std::uint64_t*>(bytes_.get() + offset);
  const std::uint64_t value = std::atomic_ref(*word).load(std::memory_order_acquire);
  order_after_device_writes();
  return value;
}

void SmallMessages::set_word(std::uint64_t offset, std::uint64_t value) {
  std::memcpy(bytes_.get() + offset, &value, sizeof value);
}

bool SmallMessages::has_room() const {
  if (left_[count_ % shape_.slots] != 0) return false;
  for (std::uint32_t m = 1; m < members_; ++m) {
    if (word_at(counts_at() + kLine * m) + shape_.slots <= count_) return false;
  }
  return true;
}

void SmallMessages::send(std::span<const std::byte> message, std::uint64_t number) {
  const std::uint64_t trailer = slot_at(count_) + capacity_;
  if (!message.empty()) {
    std::memcpy(bytes_.get() + trailer - message.size(), message.data(), message.size());
  }
  left_[count_ % shape_.slots] = members_ - 1;
  ++count_;
  set_word(trailer + offsetof(Trailer, size), message.size());
  set_word(trailer + offsetof(Trailer, number), number);
  set_word(trailer + offsetof(Trailer, mark), count_);
  progress();
}

std::optional<std::span<const std::byte>> SmallMessages::arrived(std::uint64_t number) const {
  const std::uint64_t trailer = slot_at(count_) + capacity_;
  if (word_at(trailer + offsetof(Trailer, mark)) != count_ + 1) return std::nullopt;
  if (word_at(trailer + offsetof(Trailer, number)) != number) return std::nullopt;
  const std::uint64_t size = word_at(trailer + offsetof(Trailer, size));
  return std::span<const std::byte>(bytes_.get() + trailer - size, size);
}

void SmallMessages::took() {
  ++count_;
  progress();
}

// Not the root: half a ring was taken since the root was told.
bool SmallMessages::owes_count() const {
  return !is_root() && count_ - written_[0] >= shape_.messages_per_count();
}

bool SmallMessages::progress() {
  if (!is_root()) {
    if (left_[0] != 0 || !owes_count()) return false;
    const std::uint64_t own = counts_at() + kLine * self_;
    const std::uint64_t told = count_ - count_ % shape_.messages_per_count();
    set_word(own, told);
    if (!write(0, 0, own, sizeof told)) return false;
    written_[0] = told;
    left_[0] = 1;
    return true;
  }
  bool moved = false;
  for (std::uint32_t m = 1; m < members_; ++m) {
    for (; written_[m] < count_; ++written_[m], moved = true) {
      const std::uint64_t trailer = slot_at(written_[m]) + capacity_;
      std::uint64_t size = 0;
      std::memcpy(&size, bytes_.get() + trailer + offsetof(Trailer, size), sizeof size);
      if (!write(m, written_[m] % shape_.slots, trailer - size, size + sizeof(Trailer))) break;
    }
  }
  return moved;
}

bool SmallMessages::write(std::uint32_t member, std::uint64_t slot, std::uint64_t offset,
                          std::uint64_t bytes) {
  const Segment segment{bytes_.get() + offset, bytes, memory_.handle};
  WorkRequest request;
  request.kind = RequestKind::kWrite;
  request.channel = channels_[is_root() ? member : 0];
  request.tag = tag_ + slot;
  request.local = {&segment, 1};
  request.remote = remote_[member];
  request.remote.address += offset;
  return transport_.post({&request, 1}) == 1;
}

void SmallMessages::take(const Completion& completion) {
  --left_[completion.tag - tag_];
  progress();
}

// A count that is owed must not leave after this member has said that it is done: the root may be
// gone by then, and its memory another's.
bool SmallMessages::settled() const {
  return !owes_count() && std::ranges::all_of(left_, [](std::uint32_t left) { return left == 0; });
}

}  // namespace slackline::hw
