// Words of a multicast over a channel of a reliable transport: the memory that they stand in while
// they are on their way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hw/multicast/words.h"
#include "hw/transport.h"

namespace slackline::hw {

/// One end of such a channel: all words go one way.
class WordChannel {
 public:
  /// Requests that are under way at a time.
  static constexpr std::uint32_t kSlots = 16;

  /// `tag` is that of the first slot's requests; the next kSlots − 1 belong to it, too. A word has
  /// `slot_bytes` at most. The transport must outlive this.
  WordChannel(Transport& transport, const ChannelEnd& end, std::uint64_t tag,
              std::size_t slot_bytes);
  WordChannel(const WordChannel&) = delete;
  WordChannel& operator=(const WordChannel&) = delete;

  const ChannelEnd& end() const { return end_; }

  /// Once the channel is connected. An end that receives posts its receives.
  void begin();
  /// Requests that the transport had no room for.
  void post_waiting();
  /// Once the channel is closed: nothing is under way.
  void unregister() { transport_.unregister_memory(registered_); }

  /// Where the next word's payload may be written; empty: no word can be sent at the moment.
  std::span<std::byte> room();
  /// Sends it; its payload, if it has one, stands at the beginning of room().
  void send(const MulticastWord& word);

  /// A completion with one of the tags. What it brings stands until done() is called for it.
  std::optional<MulticastWord> take(const Completion& completion);
  void done(const Completion& completion);

 private:
  std::span<std::byte> slot(std::size_t index) {
    return std::span(memory_).subspan(index * slot_bytes_, slot_bytes_);
  }
  void post(std::size_t index, std::size_t bytes);

  Transport& transport_;
  const ChannelEnd end_;
  const std::uint64_t tag_;
  const std::size_t slot_bytes_;
  std::vector<std::byte> memory_;
  LocalMemory registered_;
  std::vector<std::size_t> free_;  // slots
  struct Waiting {
    std::size_t slot = 0;
    std::size_t bytes = 0;
  };
  std::vector<Waiting> waiting_;  // filled, and not taken by the transport yet
};

}  // namespace slackline::hw
