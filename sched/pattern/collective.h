// Collectives made of multicasts: run backwards a multicast reduces, from every rank at once it
// gathers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sched/ids.h"
#include "sched/pattern/pattern.h"
#include "sched/plan.h"

namespace slackline::sched {

/// What moves where. Every rank has one buffer, cut into the same units; a unit moves as a whole,
/// and always to the place that it has.
struct CollectivePlan {
  /// Units [first, first + count), which follow one another in memory.
  struct Piece {
    std::uint32_t first = 0;
    std::uint32_t count = 1;
  };
  struct Message {
    std::uint32_t step = 0;
    RankId src;
    RankId dst;
    std::uint32_t first_piece = 0;
    std::uint32_t pieces = 1;  // 1 if it combines
    bool combines = false;     // is added to what stands at dst, or takes its place
  };
  std::string title;
  std::uint32_t ranks = 1;
  std::vector<std::uint64_t> begin;  // of every unit in the buffer, and the buffer's end
  std::uint32_t steps = 0;
  std::vector<Message> messages;  // by step, src, dst, unit
  std::vector<Piece> pieces;
  // The contract: each rank has its own value, of all of the buffer or of its share of it; then the
  // ranks named have the sum of all, or all shares.
  bool own_share = false;
  bool at_all = true;
  RankId root{0};           // where !at_all
  bool marks_ends = false;  // a rank has an operation before all its sends, and one after all

  std::uint64_t bytes() const { return begin.back(); }
  std::uint32_t units() const { return static_cast<std::uint32_t>(begin.size() - 1); }
};

/// `by` names the multicast; bytes, blocks and root are the options'. Throws InputError for a `by`
/// that is no pattern without racks, and as the multicast does.

/// The multicast backwards, its blocks too: what it last sent over an edge comes back over it
/// first, added up on the way, until the root has the sum. As many steps; on the circulant k − 1 +
/// ⌈log2 n⌉.
CollectivePlan reduce_plan(const MulticastOptions& options, const std::string& by);

/// reduce_plan, then the multicast of the sum: twice the steps. A block goes out as soon as its sum
/// is there.
CollectivePlan allreduce_plan(const MulticastOptions& options, const std::string& by);

/// Every rank is the root of a multicast of its own `bytes`, all of them the same with ranks
/// counted from the root: as many steps as one. What a rank sends another in one step goes in
/// messages of up to kMostPieces runs of memory; on the circulant a rank has one target per step.
/// `root` has no meaning.
CollectivePlan allgather_plan(const MulticastOptions& options, const std::string& by);
inline constexpr std::uint32_t kMostPieces = 4;  // what every transport can gather and scatter

/// No rank leaves before every rank has come. On the circulant an allgather without bytes:
/// ⌈log2 n⌉ steps; on every other pattern an allreduce without bytes.
CollectivePlan barrier_plan(const MulticastOptions& options, const std::string& by);

}  // namespace slackline::sched
