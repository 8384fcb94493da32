#include "hw/multicast/words.h"

#include <array>
#include <cstring>

#include "base/error.h"
#include "hw/bytes.h"

namespace slackline::hw {
namespace {

using Kind = MulticastWord::Kind;

struct WordHead {
  std::uint64_t message = 0;
  std::uint64_t bytes = 0;
  std::uint32_t immediate = 0;
  PacketRun packets;
  std::uint32_t runs = 0;
  Kind kind = Kind::kSent;
  std::array<std::uint8_t, 7> unused{};
};
static_assert(sizeof(WordHead) == kWordHeadBytes);

}  // namespace

std::size_t write_word(const MulticastWord& word, std::span<std::byte> to) {
  const std::size_t bytes = kWordHeadBytes + word.missing.size() * sizeof(PacketRun);
  if (word.missing.size() > kMostRuns || to.size() < bytes) {
    throw InternalError("a word of a multicast that has no room");
  }
  WordHead head{word.message, word.bytes, word.immediate, word.packets, 0, word.kind, {}};
  head.runs = static_cast<std::uint32_t>(word.missing.size());
  std::memcpy(to.data(), &head, sizeof head);
  if (head.runs != 0) {
    std::memcpy(to.data() + sizeof head, word.missing.data(), head.runs * sizeof(PacketRun));
  }
  return bytes;
}

MulticastWord read_word(std::span<const std::byte> bytes) {
  WordHead head;
  ByteReader::require(bytes.size() >= sizeof head, "cut short");
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes = bytes.subspan(sizeof head);
  ByteReader::require(head.kind <= Kind::kHave, "a word that there is not");
  ByteReader::require(head.runs <= kMostRuns && head.runs * sizeof(PacketRun) <= bytes.size() &&
                          (head.kind == Kind::kMissing) == (head.runs != 0),
                      "other packets than it says");
  MulticastWord word{head.kind, head.message, head.bytes, head.immediate, head.packets, {}, {}};
  word.missing.resize(head.runs);
  if (head.runs != 0) {
    std::memcpy(word.missing.data(), bytes.data(), head.runs * sizeof(PacketRun));
  }
  word.payload = bytes.subspan(head.runs * sizeof(PacketRun));
  ByteReader::require(head.kind == Kind::kRepair || word.payload.empty(), "more than it has");
  return word;
}

}  // namespace slackline::hw
