// Small messages of a group as Derecho's: the root writes each of them, with one one-sided write to
// each member, into a ring of slots that the member looks at. Nothing is posted at the member, and
// no member relays. (Derecho's SMC; a group takes it up to 10,240 bytes there.)
//
// A slot has the message's bytes, its size, its number in the group and, last, a mark, so that a
// slot whose mark is there is there whole: the bytes of a write become visible in the order of
// their addresses. Members tell the root how many of them they have taken, whole halves of the
// ring, and the root overwrites no slot before that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hw/transport.h"
#include "machine/group/small_shape.h"

namespace slackline::hw {

using machine::SmallShape;

/// At one member; the first is the root. Used by the thread that owns the transport.
class SmallMessages {
 public:
  /// `channels`: at the root by member, the transport's channels to them; at others one, to the
  /// root. Requests' tags are from `tag` on, one for each slot. The memory stays registered while
  /// the transport lives, which must outlive the use of this.
  SmallMessages(Transport& transport, SmallShape shape, std::uint32_t members, std::uint32_t self,
                std::vector<std::uint32_t> channels, std::uint64_t tag);

  /// For the peers.
  RemoteMemory memory() const { return memory_.remote; }
  /// The peers' memory(), by member, once the channels are connected.
  void connect(std::vector<RemoteMemory> peers) { remote_ = std::move(peers); }

  // At the root.

  /// Whether every member has taken what stands in the next slot.
  bool has_room() const;
  /// Copies message `number` of the group, and writes it to all members, in time.
  void send(std::span<const std::byte> message, std::uint64_t number);

  // At the others.

  /// The bytes of message `number` of the group, if it is a small one and is here.
  std::optional<std::span<const std::byte>> arrived(std::uint64_t number) const;
  /// …which have been copied.
  void took();

  /// Posts what there was no room for. Answers whether it did.
  bool progress();
  /// The completion of one of its requests.
  void take(const Completion& completion);
  /// Whether all that was to be written stands where it goes, so that nothing more is written
  /// before the next message.
  bool settled() const;

  /// The memory that peers write, to keep it in place for longer than this lives.
  std::shared_ptr<void> kept() const { return bytes_; }

 private:
  struct Trailer {
    std::uint64_t size = 0;
    std::uint64_t number = 0;
    std::uint64_t mark = 0;  // how many small messages there are with this one; never 0
  };
  static_assert(sizeof(Trailer) == machine::kSmallTrailerBytes);
  std::uint64_t slot_at(std::uint64_t index) const { return index % shape_.slots * slot_bytes_; }
  std::uint64_t counts_at() const { return shape_.slots * slot_bytes_; }
  std::uint64_t word_at(std::uint64_t offset) const;
  void set_word(std::uint64_t offset, std::uint64_t value);
  bool write(std::uint32_t member, std::uint64_t slot, std::uint64_t offset, std::uint64_t bytes);
  bool is_root() const { return self_ == 0; }
  bool owes_count() const;

  Transport& transport_;
  const SmallShape shape_;
  const std::uint32_t members_;
  const std::uint32_t self_;
  const std::vector<std::uint32_t> channels_;
  const std::uint64_t tag_;
  const std::uint64_t capacity_;        // of a slot, for bytes of a message
  const std::uint64_t slot_bytes_;      // whole cache lines
  std::shared_ptr<std::byte[]> bytes_;  // the slots, then a count of each member on a line each
  LocalMemory memory_;
  std::vector<RemoteMemory> remote_;
  std::uint64_t count_ = 0;             // small messages sent, or taken
  std::vector<std::uint64_t> written_;  // root: of them, by member; others: the count told, alone
  std::vector<std::uint32_t> left_;     // by slot, writes from there that are not complete
};

}  // namespace slackline::hw
