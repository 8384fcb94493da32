// What a reliable multicast says: the head of its datagrams, and the words of both ends of a
// channel to each other, which go over reliable channels.
//
//   source ──datagrams──► every receiver of the flow
//   sender ──kSent, kRepair──► receiver          (the channel itself)
//   sender ◄──kMissing, kHave── receiver         (the way back)
//
// Messages of a channel are numbered from 0 on, over all iterations. A message's packets have the
// same number of bytes, all ranks alike, but for its last. Plain bytes between machines of one
// kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace slackline::hw {

/// Before each datagram's payload.
struct DatagramHead {
  std::uint64_t salt = 0;     // of the source's open(): tells its datagrams from all others
  std::uint64_t message = 0;  // of the flow
  std::uint32_t flow = 0;     // the source's channel
  std::uint32_t packet = 0;   // of the message
};
static_assert(sizeof(DatagramHead) == 24);

/// A run of packets of one message.
struct PacketRun {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  friend bool operator==(const PacketRun&, const PacketRun&) = default;
};

struct MulticastWord {
  enum class Kind : std::uint8_t {
    kSent,     // the sender has issued the message; a source has sent all of its packets
    kRepair,   // the payload of packets that were asked for
    kMissing,  // which packets of a message the receiver asks for
    kHave,     // the receiver has all messages before this one
  };
  Kind kind = Kind::kSent;
  std::uint64_t message = 0;
  std::uint64_t bytes = 0;             // kSent: of the message
  std::uint32_t immediate = 0;         // kSent
  PacketRun packets;                   // kRepair
  std::vector<PacketRun> missing;      // kMissing
  std::span<const std::byte> payload;  // kRepair: within what was read
};

/// Of a word, before its payload or its runs.
inline constexpr std::size_t kWordHeadBytes = 40;
/// The most runs that a kMissing says.
inline constexpr std::size_t kMostRuns = 64;

/// Writes it into `to`, which has room for it, without the payload of a kRepair; answers how many
/// bytes. The payload stands behind.
std::size_t write_word(const MulticastWord& word, std::span<std::byte> to);
/// Throws BadBytes (hw/bytes.h) for what is none.
MulticastWord read_word(std::span<const std::byte> bytes);

}  // namespace slackline::hw
