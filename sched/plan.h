// What a multicast pattern says: which rank sends which block to which rank at which step. Steps
// are asynchronous: they number a rank's work, they do not synchronise it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sched/ids.h"

namespace slackline::sched {

/// One block on its way. One transfer makes both its send and its receive, so that the halves
/// cannot disagree.
struct Transfer {
  std::uint32_t step = 0;
  RankId src;
  RankId dst;
  std::uint32_t block = 0;
  friend constexpr auto operator<=>(const Transfer&, const Transfer&) = default;
};

struct Plan {
  std::string title;  // what made it, for people; lower_transfers copies it
  std::uint32_t ranks = 1;
  RankId root{0};
  std::uint64_t bytes = 0;        // of the message
  std::uint64_t block_bytes = 1;  // of every block but the last, which may be shorter
  std::uint32_t blocks = 1;       // max(1, ⌈bytes / block_bytes⌉)
  std::uint32_t steps = 0;        // as the pattern counts them
  /// Ordered by (step, src, dst, block).
  std::vector<Transfer> transfers;
  /// A rank relays nothing before it holds the whole message (binomial tree of whole messages).
  bool relay_whole_message = false;
  /// The pattern delivers some blocks twice by design.
  bool delivers_twice = false;

  std::uint64_t block_offset(std::uint32_t block) const { return block * block_bytes; }
  /// The last block is what is left; zero if the message is empty.
  std::uint64_t bytes_of(std::uint32_t block) const {
    const std::uint64_t begin = block_offset(block);
    return begin >= bytes ? 0 : (bytes - begin < block_bytes ? bytes - begin : block_bytes);
  }
};

}  // namespace slackline::sched
