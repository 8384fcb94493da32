// A call as bytes in a chunk: head, captures, buffer, tail.
//
// A chunk is polled, so a record must show by itself that all of it is there. Its head begins with
// a stamp of its channel and of its number on it, which no record that stood there before can have;
// its tail is a checksum of everything between, mixed with the stamp. A record of which any word is
// missing is not there yet, in whatever order its bytes arrive.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/mix.h"

namespace slackline::hw {

enum class RecordKind : std::uint8_t {
  kCall = 1,
  kCallWritten,  // its buffer is a WrittenBuffer, in the destination's memory
  kCallRead,     // its buffer is a ReadBuffer, in the caller's memory
  kBroadcast,    // its buffer begins with the root's rank, in 8 bytes
  kReply,        // a call has run: its result
  kError,        // a call has thrown: the text
  kEnd,          // the rest of the chunk is empty; `function` names the next chunk
  // Broadcasts of a buffer (hw/call/broadcast.cc); each begins with the root's rank, too.
  kBroadcastWritten,  // it stands in memory of each rank
  kBroadcastRead,     // in memory of the rank that the record comes from
};

inline constexpr std::uint32_t kNoToken = 0xffffffffu;

struct RecordHead {
  std::uint64_t stamp = 0;
  std::uint32_t bytes = 0;  // of the record, head and tail included; a multiple of 8
  std::uint32_t function = 0;
  std::uint32_t token = kNoToken;  // for the caller, in the reply
  std::uint16_t closure_words = 0;
  RecordKind kind = RecordKind::kCall;
  std::uint8_t slack = 0;  // bytes between the buffer's end and the tail
};
static_assert(sizeof(RecordHead) == 24);

inline constexpr std::size_t kTailBytes = 8;
inline constexpr std::size_t kEndBytes = sizeof(RecordHead) + kTailBytes;

/// A record to be made. What it points to need only last until it is laid out.
struct RecordDraft {
  RecordKind kind = RecordKind::kCall;
  std::uint32_t function = 0;
  std::uint32_t token = kNoToken;
  std::span<const std::byte> closure;  // no more than hw/call/function.h takes
  std::span<const std::byte> extra;    // begins the buffer
  std::span<const std::byte> buffer;
};

constexpr std::size_t round_to_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

inline std::size_t record_bytes(const RecordDraft& draft) {
  return sizeof(RecordHead) + round_to_words(draft.closure.size()) +
         round_to_words(draft.extra.size() + draft.buffer.size()) + kTailBytes;
}

/// The numbers of one channel's records, which both of its ends count.
class RecordStamps {
 public:
  RecordStamps(std::uint32_t name, std::uint32_t source, std::uint32_t destination)
      : salt_(sched::finalized(sched::finalized(sched::finalized(name + 1) + source) +
                               destination)) {}
  std::uint64_t current() const { return sched::finalized(salt_ + number_ * sched::kSplitMixStep); }
  void advance() { ++number_; }
  std::uint64_t number() const { return number_; }

 private:
  std::uint64_t salt_;
  std::uint64_t number_ = 0;
};

/// What a record must end with, by its bytes behind the stamp.
inline std::uint64_t tail_of(const std::byte* record, std::size_t bytes, std::uint64_t stamp) {
  std::uint64_t sum = 1;
  std::uint64_t sums = 0;  // depends on the words' places
  for (std::size_t at = 8; at + kTailBytes < bytes; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, record + at, 8);
    sum += word;
    sums += sum;
  }
  return sched::finalized(stamp + sum + std::rotl(sched::finalized(sums), 32));
}

/// Lays out all but stamp and tail. `to`: 8-byte aligned.
inline void lay_out(const RecordDraft& draft, std::byte* to) {
  RecordHead head;
  head.bytes = static_cast<std::uint32_t>(record_bytes(draft));
  head.function = draft.function;
  head.token = draft.token;
  head.closure_words = static_cast<std::uint16_t>(round_to_words(draft.closure.size()) / 8);
  head.kind = draft.kind;
  const std::size_t rest = draft.extra.size() + draft.buffer.size();
  head.slack = static_cast<std::uint8_t>(round_to_words(rest) - rest);
  std::memcpy(to, &head, sizeof head);
  const auto add = [](std::byte*& at, std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    at += bytes.size();
  };
  // The last word of captures and of the buffer may end in padding.
  constexpr std::uint64_t kZero = 0;
  std::byte* at = to + sizeof head;
  if (draft.closure.size() % 8 != 0) {
    std::memcpy(at + draft.closure.size() / 8 * 8, &kZero, 8);
  }
  add(at, draft.closure);
  at = to + sizeof head + std::size_t{8} * head.closure_words;
  if (head.slack != 0) std::memcpy(to + head.bytes - kTailBytes - 8, &kZero, 8);
  add(at, draft.extra);
  add(at, draft.buffer);
}

/// Makes a record of what is laid out.
inline void seal(std::byte* record, std::uint64_t stamp) {
  std::uint32_t bytes;
  std::memcpy(&bytes, record + offsetof(RecordHead, bytes), sizeof bytes);
  std::memcpy(record, &stamp, sizeof stamp);
  const std::uint64_t tail = tail_of(record, bytes, stamp);
  std::memcpy(record + bytes - kTailBytes, &tail, sizeof tail);
}

inline std::uint64_t load_word(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_ACQUIRE);
}

/// Whether the record with this stamp stands at `at`, all of it; then `head` is its head. `room`:
/// bytes of the chunk from there on.
inline bool is_whole(const std::byte* at, std::size_t room, std::uint64_t stamp, RecordHead& head) {
  if (room < kEndBytes || load_word(at) != stamp) return false;
  std::memcpy(&head, at, sizeof head);
  if (head.bytes > room || head.bytes % 8 != 0 ||
      head.bytes < kEndBytes + std::size_t{8} * head.closure_words + head.slack || head.slack > 7) {
    return false;
  }
  const std::uint64_t tail = load_word(at + head.bytes - kTailBytes);
  return tail == tail_of(at, head.bytes, stamp);
}

inline std::byte* closure_of(std::byte* record) { return record + sizeof(RecordHead); }
inline std::span<std::byte> buffer_of(const RecordHead& head, std::byte* record) {
  const std::size_t begin = sizeof(RecordHead) + std::size_t{8} * head.closure_words;
  return {record + begin, head.bytes - kTailBytes - head.slack - begin};
}

}  // namespace slackline::hw
