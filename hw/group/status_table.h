// A table of counts, replicated at every member of a group by one-sided writes: each member owns a
// row, writes it at all others, and reads all rows in its own memory (RDMC, section 4.6, after
// Derecho). A row only ever grows, so a write that is under way may be overtaken by what it
// carries: there is never more than one under way to a peer, and it takes the latest count along.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hw/transport.h"

namespace slackline::hw {

/// Used by the thread that owns the transport.
class StatusTable {
 public:
  /// `channels`: by member, the transport's channel from this one to it; the own entry means
  /// nothing. Requests' tags are `tag` + the member's place. The rows stay registered while the
  /// transport lives, which must outlive the use of this.
  StatusTable(Transport& transport, std::uint32_t self, std::vector<std::uint32_t> channels,
              std::uint64_t tag);

  /// For the peers.
  RemoteMemory memory() const { return memory_.remote; }
  /// The peers' memory(), by member, once the channels are connected.
  void connect(std::vector<RemoteMemory> peers);

  /// Raises the own row, here and, in time, everywhere. `count` never falls.
  void publish(std::uint64_t count);
  /// Posts what there was no room for. Answers whether it did.
  bool progress();
  /// The completion of one of its requests.
  void take(const Completion& completion);
  /// Whether all that was published stands at every member.
  bool settled() const;

  std::uint64_t row(std::uint32_t member) const;
  /// The lowest row.
  std::uint64_t least() const;

  /// The memory that peers write, to keep it in place for longer than this lives.
  std::shared_ptr<void> rows() const { return rows_; }

 private:
  // A row on a cache line of its own.
  struct alignas(64) Row {
    std::uint64_t count = 0;
  };
  struct Peer {
    std::uint64_t sent = 0;  // the count at the time of the latest write
    bool under_way = false;
  };
  bool write(std::uint32_t member);

  Transport& transport_;
  std::uint32_t self_;
  std::vector<std::uint32_t> channels_;
  std::uint64_t tag_;
  std::shared_ptr<Row[]> rows_;
  LocalMemory memory_;
  std::vector<RemoteMemory> remote_;
  std::vector<Peer> peers_;
};

}  // namespace slackline::hw
