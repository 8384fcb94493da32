#include "hw/multicast/word_channel.h"

namespace slackline::hw {

WordChannel::WordChannel(Transport& transport, const ChannelEnd& end, std::uint64_t tag,
                         std::size_t slot_bytes)
    : transport_(transport),
      end_(end),
      tag_(tag),
      slot_bytes_(slot_bytes),
      memory_(kSlots * slot_bytes),
      registered_(transport.register_memory(memory_)) {
  for (std::size_t index = 0; end_.initiates && index < kSlots; ++index) free_.push_back(index);
}

void WordChannel::begin() {
  for (std::size_t index = 0; !end_.initiates && index < kSlots; ++index) post(index, slot_bytes_);
}

void WordChannel::post(std::size_t index, std::size_t bytes) {
  waiting_.push_back({index, bytes});
  post_waiting();
}

void WordChannel::post_waiting() {
  std::size_t taken = 0;
  for (; taken < waiting_.size(); ++taken) {
    const Segment segment{slot(waiting_[taken].slot).data(), waiting_[taken].bytes,
                          registered_.handle};
    WorkRequest request;
    request.kind = end_.initiates ? RequestKind::kSend : RequestKind::kRecv;
    request.channel = end_.channel;
    request.tag = tag_ + waiting_[taken].slot;
    request.local = {&segment, 1};
    if (transport_.post({&request, 1}) == 0) break;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(taken));
}

std::span<std::byte> WordChannel::room() {
  if (free_.empty()) return {};
  return slot(free_.back()).subspan(kWordHeadBytes);
}

void WordChannel::send(const MulticastWord& word) {
  const std::size_t index = free_.back();
  free_.pop_back();
  post(index, write_word(word, slot(index)) + word.payload.size());
}

std::optional<MulticastWord> WordChannel::take(const Completion& completion) {
  const std::size_t index = completion.tag - tag_;
  if (!end_.initiates) return read_word(slot(index).first(completion.bytes));
  free_.push_back(index);
  return std::nullopt;
}

void WordChannel::done(const Completion& completion) {
  if (!end_.initiates) post(completion.tag - tag_, slot_bytes_);
}

}  // namespace slackline::hw
