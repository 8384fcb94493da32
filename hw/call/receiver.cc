#include "hw/call/receiver.h"

#include <utility>

#include "hw/bytes.h"

namespace slackline::hw {

CallReceiver::CallReceiver(RecordStamps stamps, FindChunk find_chunk, TellConsumed tell_consumed)
    : stamps_(stamps),
      find_chunk_(std::move(find_chunk)),
      tell_consumed_(std::move(tell_consumed)) {}

std::byte* CallReceiver::next() {
  if (chunk_.empty()) chunk_ = find_chunk_(0);
  while (!chunk_.empty()) {
    std::byte* const record = chunk_.data() + at_;
    if (!is_whole(record, chunk_.size() - at_, stamps_.current(), head_)) return nullptr;
    if (head_.kind != RecordKind::kEnd) return record;
    // Granted before the source could name it.
    const std::span<std::byte> following = find_chunk_(head_.function);
    if (following.empty()) throw BadBytes("a chunk that is not there");
    stamps_.advance();
    chunk_ = following;
    at_ = 0;
    tell_consumed_(++consumed_);
  }
  return nullptr;
}

void CallReceiver::pop() {
  at_ += head_.bytes;
  stamps_.advance();
}

}  // namespace slackline::hw
