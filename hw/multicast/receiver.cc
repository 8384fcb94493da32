#include "hw/multicast/receiver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "hw/bytes.h"

namespace slackline::hw {
namespace {

using Kind = MulticastWord::Kind;

// Messages that a source may be ahead of a receiver. What is further ahead counts as lost.
constexpr std::uint64_t kMostAhead = 1u << 14;

}  // namespace

MulticastReceiver::Message& MulticastReceiver::message(std::uint64_t number) {
  const std::uint64_t index = number - first_;
  if (index >= messages_.size()) messages_.resize(index + 1);
  return messages_[index];
}

// Whether the packet is one of the message's, as far as its size is known.
bool MulticastReceiver::fits(const Message& message, std::uint64_t packet,
                             std::size_t bytes) const {
  if (bytes == 0 || bytes > packet_bytes_) return false;
  const std::uint64_t end = packet * packet_bytes_ + bytes;
  if (!message.bytes) return end <= message.place.size();
  return end == *message.bytes || (bytes == packet_bytes_ && end < *message.bytes);
}

// Into a receive. False: it was there.
bool MulticastReceiver::arrive(Message& message, std::uint32_t packet,
                               std::span<const std::byte> payload) {
  if (message.arrived[packet]) return false;
  message.place.write(std::uint64_t{packet} * packet_bytes_, payload);
  message.arrived[packet] = true;
  ++message.arrived_count;
  return true;
}

void MulticastReceiver::keep_early(Message& message, std::uint32_t packet,
                                   std::span<const std::byte> payload) {
  if (message.early.contains(packet)) {
    ++counts_.repeated;
  } else if (packet_bytes_ > early_room_) {
    ++counts_.early;
  } else {
    early_room_ -= packet_bytes_;
    message.early.emplace(packet, std::vector<std::byte>(payload.begin(), payload.end()));
  }
}

// Once the message has a receive, and was sent: now it is known which packets there are.
void MulticastReceiver::settle(Message& message) const {
  if (!message.posted || !message.bytes) return;
  if (*message.bytes > message.place.size()) {
    throw InputError(
        fmt::format("a multicast of {} bytes came to a receive of {}: `check` lists what is wrong",
                    *message.bytes, message.place.size()));
  }
  message.arrived.resize(packets_of(*message.bytes));
  message.arrived_count = static_cast<std::uint64_t>(std::ranges::count(message.arrived, true));
}

void MulticastReceiver::add_receive(const WorkRequest& request) {
  Message& message = this->message(posted_++);
  message.posted = true;
  message.receive = request;
  message.place = GatheredBytes(request.local);
  message.arrived.resize(packets_of(message.place.size()), false);
  settle(message);
  for (const auto& [packet, payload] : std::exchange(message.early, {})) {
    early_room_ += packet_bytes_;
    if (fits(message, packet, payload.size())) arrive(message, packet, payload);
  }
  finish_oldest();
}

void MulticastReceiver::take(const DatagramHead& head, std::span<const std::byte> payload,
                             Clock::time_point now) {
  ++counts_.datagrams;
  if (head.message < first_) {
    ++counts_.repeated;
    return;
  }
  if (payload.empty() || payload.size() > packet_bytes_) return;
  if (head.message - first_ >= kMostAhead) {
    ++counts_.early;
    return;
  }
  Message& message = this->message(head.message);
  if (!message.posted) return keep_early(message, head.packet, payload);
  if (!fits(message, head.packet, payload.size())) return;
  message.heard_at = now;
  if (!arrive(message, head.packet, payload)) ++counts_.repeated;
  finish_oldest();
}

void MulticastReceiver::take(const MulticastWord& word, Clock::time_point now) {
  if (word.kind == Kind::kSent) {
    ByteReader::require(word.message == sent_, "that it has sent a message out of turn");
    Message& message = this->message(sent_++);
    message.heard_at = now;
    message.bytes = word.bytes;
    message.immediate = word.immediate;
    settle(message);
    finish_oldest();
    return;
  }
  ByteReader::require(word.kind == Kind::kRepair, "what only a receiver says");
  // What came meanwhile by itself.
  if (word.message < first_) return;
  ByteReader::require(word.message < sent_, "packets of a message that it has not sent");
  Message& message = this->message(word.message);
  std::span<const std::byte> left = word.payload;
  for (std::uint32_t i = 0; i < word.packets.count; ++i) {
    const std::uint64_t packet = std::uint64_t{word.packets.first} + i;
    const auto payload = left.first(std::min(left.size(), packet_bytes_));
    left = left.subspan(payload.size());
    ByteReader::require(message.posted && fits(message, packet, payload.size()),
                        "packets that nobody asked for");
    if (arrive(message, static_cast<std::uint32_t>(packet), payload)) ++counts_.repaired;
  }
  ByteReader::require(left.empty(), "more bytes than its packets have");
  finish_oldest();
}

void MulticastReceiver::finish_oldest() {
  while (!messages_.empty()) {
    Message& oldest = messages_.front();
    if (!oldest.posted || !oldest.bytes || oldest.arrived_count != packets_of(*oldest.bytes)) {
      return;
    }
    if (oldest.receive.signalled) {
      complete_.push_back(
          {oldest.receive.tag, RequestKind::kRecv, oldest.immediate, *oldest.bytes});
    }
    messages_.pop_front();
    ++first_;
  }
}

std::vector<PacketRun> MulticastReceiver::ask(Message& message) const {
  std::vector<PacketRun> runs;
  const auto packets = static_cast<std::uint32_t>(message.arrived.size());
  message.asked.resize(packets, false);
  for (std::uint32_t p = 0; p < packets; ++p) {
    if (message.arrived[p] || message.asked[p]) continue;
    const bool goes_on = !runs.empty() && runs.back().first + runs.back().count == p;
    if (!goes_on && runs.size() == kMostRuns) break;
    if (!goes_on) runs.push_back({p, 0});
    ++runs.back().count;
    message.asked[p] = true;
  }
  return runs;
}

std::optional<MulticastWord> MulticastReceiver::next_word(std::optional<Clock::time_point> now) {
  if (told_ != first_) {
    told_ = first_;
    MulticastWord word;
    word.kind = Kind::kHave;
    word.message = first_;
    return word;
  }
  if (!now) return std::nullopt;
  // Without a receive there might be no room for what comes.
  for (std::uint64_t number = first_; number < std::min(sent_, posted_); ++number) {
    if (*now - message(number).heard_at < patience_) continue;
    std::vector<PacketRun> runs = ask(message(number));
    if (runs.empty()) continue;
    MulticastWord word;
    word.kind = Kind::kMissing;
    word.message = number;
    word.missing = std::move(runs);
    return word;
  }
  return std::nullopt;
}

std::optional<Completion> MulticastReceiver::next_completion() {
  if (complete_.empty()) return std::nullopt;
  const Completion completion = complete_.front();
  complete_.pop_front();
  return completion;
}

}  // namespace slackline::hw
