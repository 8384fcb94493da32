// The sending end of a multicast channel, without any network: which packets a source has to send,
// what to say to the receiver, what it has asked for, and which sends are complete.
//
// A send is complete when its receiver says that it has the message. Who passes a message on
// repairs it for those he sends it to: a source its first hop, each copier the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "hw/multicast/gathered_bytes.h"
#include "hw/multicast/words.h"
#include "hw/transport.h"

namespace slackline::hw {

class MulticastSender {
 public:
  /// `packet_bytes` ≥ 1, of each packet but a message's last. A source sends the packets
  /// themselves; who is none only says that the message has been issued.
  MulticastSender(bool is_source, std::size_t packet_bytes)
      : is_source_(is_source), packet_bytes_(packet_bytes) {}

  /// The next message. Its memory stays as it is until its send is complete.
  void add_send(const WorkRequest& request);

  /// A source's next packet to send; nothing if all are. It is next until sent() is called.
  struct Packet {
    std::uint64_t message = 0;
    std::uint32_t packet = 0;
    std::uint64_t offset = 0;  // of its bytes within the message
    std::size_t bytes = 0;
  };
  std::optional<Packet> next_packet() const;
  void sent();

  /// What to tell the receiver next; nothing at the moment. Of a kRepair the payload is written
  /// into `room`, and the word has it; as many packets as there is room for, at least one's.
  std::optional<MulticastWord> next_word(std::span<std::byte> room);

  /// What the receiver says: kMissing or kHave. Throws BadBytes for what it cannot mean.
  void take(const MulticastWord& word);

  /// Sends that are complete and whose completion somebody wants, in order.
  std::optional<Completion> next_completion();

  void read(const Packet& packet, std::span<std::byte> to) const {
    message(packet.message).bytes.read(packet.offset, to);
  }
  /// Packets that were sent again.
  std::uint64_t repaired_packets() const { return repaired_; }

 private:
  struct Message {
    GatheredBytes bytes;
    std::uint64_t tag = 0;
    std::uint32_t immediate = 0;
    bool signalled = false;
    std::uint64_t asked = 0;  // packets that the receiver has asked for
  };
  struct Repair {
    std::uint64_t message = 0;
    PacketRun packets;
  };
  const Message& message(std::uint64_t number) const { return messages_[number - first_]; }
  std::uint64_t end() const { return first_ + messages_.size(); }
  std::uint32_t packets_of(std::uint64_t number) const;
  std::optional<MulticastWord> next_repair(std::span<std::byte> room);

  const bool is_source_;
  const std::size_t packet_bytes_;
  std::deque<Message> messages_;  // from first_ on: not known to have come
  std::uint64_t first_ = 0;
  std::uint64_t sending_ = 0;  // of a source: the message whose packets are sent next…
  std::uint32_t packet_ = 0;   // …and which of them
  std::uint64_t told_ = 0;     // messages of which the receiver was told
  std::deque<Repair> repairs_;
  std::deque<Completion> complete_;
  std::uint64_t repaired_ = 0;
};

}  // namespace slackline::hw
