#include "hw/multicast/sender.h"

#include <algorithm>

#include "hw/bytes.h"

namespace slackline::hw {
namespace {

using Kind = MulticastWord::Kind;

}  // namespace

std::uint32_t MulticastSender::packets_of(std::uint64_t number) const {
  return static_cast<std::uint32_t>((message(number).bytes.size() + packet_bytes_ - 1) /
                                    packet_bytes_);
}

void MulticastSender::add_send(const WorkRequest& request) {
  messages_.push_back(
      {GatheredBytes(request.local), request.tag, request.immediate, request.signalled});
}

std::optional<MulticastSender::Packet> MulticastSender::next_packet() const {
  if (!is_source_) return std::nullopt;
  for (std::uint64_t number = std::max(sending_, first_); number < end(); ++number) {
    const std::uint32_t packet = number == sending_ ? packet_ : 0;
    if (packet == packets_of(number)) continue;
    const std::uint64_t offset = std::uint64_t{packet} * packet_bytes_;
    const std::uint64_t left = message(number).bytes.size() - offset;
    return Packet{number, packet, offset,
                  static_cast<std::size_t>(std::min<std::uint64_t>(left, packet_bytes_))};
  }
  return std::nullopt;
}

void MulticastSender::sent() {
  const std::optional<Packet> packet = next_packet();
  if (!packet) throw InternalError("a packet that there is not was sent");
  sending_ = packet->message;
  packet_ = packet->packet + 1;
}

std::optional<MulticastWord> MulticastSender::next_word(std::span<std::byte> room) {
  // What was asked for may have come meanwhile.
  while (!repairs_.empty() && repairs_.front().message < first_) repairs_.pop_front();
  if (!repairs_.empty()) return next_repair(room);
  // Of a source, all packets are on their way by then.
  if (is_source_ && told_ < end()) {
    const std::optional<Packet> packet = next_packet();
    if (packet && packet->message <= told_) return std::nullopt;
  }
  if (told_ == end()) return std::nullopt;
  MulticastWord word;
  word.kind = Kind::kSent;
  word.message = told_;
  word.bytes = message(told_).bytes.size();
  word.immediate = message(told_).immediate;
  ++told_;
  return word;
}

std::optional<MulticastWord> MulticastSender::next_repair(std::span<std::byte> room) {
  Repair& repair = repairs_.front();
  const GatheredBytes& bytes = message(repair.message).bytes;
  MulticastWord word;
  word.kind = Kind::kRepair;
  word.message = repair.message;
  word.packets.first = repair.packets.first;
  word.packets.count = std::min<std::uint32_t>(
      repair.packets.count, static_cast<std::uint32_t>(room.size() / packet_bytes_));
  if (word.packets.count == 0) throw InternalError("no room for a packet");
  const std::uint64_t offset = std::uint64_t{word.packets.first} * packet_bytes_;
  const std::uint64_t most = std::uint64_t{word.packets.count} * packet_bytes_;
  const auto payload = room.first(std::min<std::uint64_t>(most, bytes.size() - offset));
  bytes.read(offset, payload);
  word.payload = payload;
  repaired_ += word.packets.count;
  repair.packets.first += word.packets.count;
  repair.packets.count -= word.packets.count;
  if (repair.packets.count == 0) repairs_.pop_front();
  return word;
}

void MulticastSender::take(const MulticastWord& word) {
  if (word.kind == Kind::kHave) {
    ByteReader::require(word.message >= first_ && word.message <= told_,
                        "that it has messages of which it was not told");
    for (; first_ < word.message; ++first_) {
      const Message& done = messages_.front();
      if (done.signalled) complete_.push_back({done.tag, RequestKind::kSend, 0, 0});
      messages_.pop_front();
    }
    return;
  }
  ByteReader::require(word.kind == Kind::kMissing, "what only a sender says");
  ByteReader::require(word.message >= first_ && word.message < told_,
                      "that it misses packets of a message that it has, or was not told of");
  for (const PacketRun& run : word.missing) {
    const std::uint32_t packets = packets_of(word.message);
    ByteReader::require(run.count != 0 && run.first < packets && run.count <= packets - run.first,
                        "that it misses packets that there are not");
    // Each packet is asked for once at most, so nobody can have more sent than there is.
    std::uint64_t& asked = messages_[word.message - first_].asked;
    ByteReader::require(run.count <= packets - asked, "that it misses packets twice");
    asked += run.count;
    repairs_.push_back({word.message, run});
  }
}

std::optional<Completion> MulticastSender::next_completion() {
  if (complete_.empty()) return std::nullopt;
  const Completion completion = complete_.front();
  complete_.pop_front();
  return completion;
}

}  // namespace slackline::hw
