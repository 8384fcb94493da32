// The receiving end of a multicast channel, without any network: which packets have come, which
// have to be asked for, and which receives are complete.
//
// Datagrams bring the packets, in any order, some twice, some never. The sender's word that it has
// issued a message comes by a reliable channel, and with it the message's size. A receive is
// complete when that word and all packets have come, and it is the oldest: so nothing is received
// before it was sent, whoever else has it already. Packets that have not come a while after the
// last sign of life are asked for, once, and come by the reliable channel. A packet that finds no
// receive posted is kept, as long as there is room; what there is no room for counts as lost.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "hw/multicast/gathered_bytes.h"
#include "hw/multicast/words.h"
#include "hw/transport.h"

namespace slackline::hw {

class MulticastReceiver {
 public:
  using Clock = std::chrono::steady_clock;

  /// `packet_bytes` ≥ 1, as the source has it. `patience`: how long after the last sign of life a
  /// packet counts as lost. `early_bytes`: what may be kept without a receive.
  MulticastReceiver(std::size_t packet_bytes, Clock::duration patience, std::size_t early_bytes)
      : packet_bytes_(packet_bytes), patience_(patience), early_room_(early_bytes) {}

  /// The next message is received into this.
  void add_receive(const WorkRequest& request);

  /// A datagram of the flow. One that cannot be of this channel's messages is passed over.
  void take(const DatagramHead& head, std::span<const std::byte> payload, Clock::time_point now);

  /// What the sender says: kSent or kRepair. Throws BadBytes for what it cannot mean.
  void take(const MulticastWord& word, Clock::time_point now);

  /// What to tell the sender next; nothing at the moment. Without `now` nothing is asked for.
  std::optional<MulticastWord> next_word(std::optional<Clock::time_point> now);

  /// Receives that are complete, in order.
  std::optional<Completion> next_completion();

  struct Counts {
    std::uint64_t datagrams = 0;
    std::uint64_t repeated = 0;  // of them: it was there already
    std::uint64_t early = 0;     // of them: neither a receive nor room
    std::uint64_t repaired = 0;  // packets that came by the reliable channel, and were missing
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Message {
    bool posted = false;
    WorkRequest receive;
    GatheredBytes place;
    std::optional<std::uint64_t> bytes;  // once it was sent
    std::uint32_t immediate = 0;
    Clock::time_point heard_at;  // the last sign of life: a packet, or that it was sent
    std::vector<bool> arrived;   // by packet; once there is a receive
    std::uint64_t arrived_count = 0;
    std::map<std::uint32_t, std::vector<std::byte>> early;  // by packet; while there is none
    std::vector<bool> asked;                                // by packet; empty: for none
  };

  Message& message(std::uint64_t number);
  std::uint64_t packets_of(std::uint64_t bytes) const {
    return (bytes + packet_bytes_ - 1) / packet_bytes_;
  }
  bool fits(const Message& message, std::uint64_t packet, std::size_t bytes) const;
  bool arrive(Message& message, std::uint32_t packet, std::span<const std::byte> payload);
  void keep_early(Message& message, std::uint32_t packet, std::span<const std::byte> payload);
  void settle(Message& message) const;
  void finish_oldest();
  std::vector<PacketRun> ask(Message& message) const;

  const std::size_t packet_bytes_;
  const Clock::duration patience_;
  std::size_t early_room_;
  std::deque<Message> messages_;  // from first_ on
  std::uint64_t first_ = 0;       // the oldest that is not complete
  std::uint64_t posted_ = 0;      // receives so far
  std::uint64_t sent_ = 0;        // messages that were sent, as far as the sender told
  std::uint64_t told_ = 0;        // up to here the sender knows
  std::deque<Completion> complete_;
  Counts counts_;
};

}  // namespace slackline::hw
