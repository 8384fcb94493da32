// What a collective says: which rank sends which units of its buffer to which rank at which step,
// and whether they are added there or take the place of what stood there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sched/ids.h"
#include "sched/op.h"
#include "sched/pattern/spec.h"

namespace slackline::sched {

/// What of a plan is wanted: an algorithm's plan of rank 0 alone takes memory for the ranks and the
/// steps, where that of all ranks takes memory for their product. Only of collectives in which all
/// ranks do the same.
struct PlanPart {
  bool first_alone = false;
};

/// What moves where. Every rank has one buffer, cut into the same units; a unit moves as a whole.
struct CollectivePlan {
  /// Units [first, first + count) of the source, which follow one another in memory, go to as many
  /// from `to` on.
  struct Piece {
    std::uint32_t first = 0;
    std::uint32_t count = 1;
    std::uint32_t to = 0;
  };
  struct Message {
    std::uint32_t step = 0;
    RankId src;
    RankId dst;  // src: a copy, or a sum, within the rank
    std::uint32_t first_piece = 0;
    std::uint32_t pieces = 1;      // 1 if it combines
    bool combines = false;         // is added to what stands at dst, or takes its place
    bool late = false;             // comes to dst behind what dst sends in that step, not before
    std::uint32_t late_steps = 0;  // of what is late and combines: added so many steps later
  };
  std::string title;
  std::uint32_t ranks = 1;
  std::uint64_t message_bytes = 0;   // what bandwidths count
  std::vector<std::uint64_t> begin;  // of every unit in the buffer, and the buffer's end
  std::uint32_t steps = 0;
  std::vector<Message> messages;  // by step
  std::vector<Piece> pieces;
  // The contract. A rank's buffer has the number of the rank. No fact has no bytes.
  std::vector<Fact> pre;
  std::vector<Fact> post;
  bool marks_ends = false;  // a rank has an operation before all its sends, and one after all
  /// Has only the messages that rank 0 sends or receives, and no contract. All ranks do the same,
  /// so that in each step rank 0's messages go to one rank, and as many of the same sizes come.
  bool first_alone = false;

  /// Those whose sends of a step are to be written: 0 to `count` − 1, or of a plan of rank 0 alone
  /// 0 and `to_first`, whose messages come to rank 0.
  std::vector<std::uint32_t> senders(std::uint32_t count, std::uint32_t to_first) const;

  std::uint64_t bytes() const { return begin.back(); }
  std::uint32_t units() const { return static_cast<std::uint32_t>(begin.size() - 1); }

  /// Before: rank r has value r, of all of the message, with which the buffer begins; or of the
  /// buffer's part r alone, of as many equal parts as there are ranks.
  void each_has_all();
  void each_has_its_part();
  /// After: bytes [from, from + count) of `rank` are the sum of all ranks' values there; all parts
  /// stand at `rank`.
  void sum_at(RankId rank, std::uint64_t from, std::uint64_t count);
  void parts_at(RankId rank);
  /// All ranks have all of the message, or their part; and after that the sum, or all parts.
  void promise_allreduce();
  void promise_allgather();
};

inline constexpr std::uint32_t kMostPieces = 4;  // what every transport can gather and scatter

/// Those of a buffer of so many shares (≥ 1), each of `bytes`. Throws InputError above 2^62.
std::uint64_t bytes_of_all(std::uint64_t bytes, std::uint32_t shares);

/// Writes the plan of an algorithm that thinks in shares of the buffer. All shares are of one size,
/// except that the first ones have a byte more if they do not divide it.
///
/// What goes from one rank to another in a step goes in messages of at most a block of the options:
/// as few as that allows, and kMostPieces. A larger share is cut into blocks, and a rank may pass
/// on one of them before it has the others.
class ShareWriter {
 public:
  /// Shares [first, first + count) go to as many from `to` on.
  struct Run {
    std::uint32_t first = 0;
    std::uint32_t count = 1;
    std::uint32_t to = 0;
  };

  /// Of a buffer of `bytes` cut into `shares` (≥ 1). The options are in range (check() in
  /// pattern.h), as in all algorithms. Throws InputError for too many units.
  ShareWriter(const MulticastOptions& options, std::uint64_t bytes, std::uint32_t shares);

  /// The runs take the places they go to. Runs of no shares are left out.
  void move(std::uint32_t step, RankId src, RankId dst, const std::vector<Run>& runs) {
    send({step, src, dst}, runs);
  }
  /// The shares of the run are added to those that stand at dst: `late` if dst sends these as they
  /// were in that step.
  void add(std::uint32_t step, RankId src, RankId dst, Run run, bool late = false);
  /// The same within a rank, behind its messages of that step.
  void add_within(std::uint32_t step, RankId rank, Run run) { add(step, rank, rank, run, true); }

  /// Within a rank, as one copy: before the rank's messages of that step, or `late`.
  void copy(std::uint32_t step, RankId rank, const std::vector<Run>& runs, bool late);

  /// Where a share begins; that of the share behind the last is the buffer's end.
  std::uint64_t begin(std::uint32_t share) const;
  std::uint64_t bytes_of(std::uint32_t share) const { return begin(share + 1) - begin(share); }

  /// After: share r of the sum stands at rank r. Before: all ranks have all of the buffer.
  void promise_reduce_scatter();

  CollectivePlan& plan() { return plan_; }
  /// Of so many steps; the writer is left empty. Of a plan of rank 0 alone, what other ranks send
  /// each other was left out.
  CollectivePlan finish(std::uint32_t steps);

 private:
  void send(CollectivePlan::Message message, const std::vector<Run>& runs);

  CollectivePlan plan_;
  std::uint64_t block_bytes_;
  std::uint64_t share_bytes_;    // of the last share
  std::uint64_t longer_shares_;  // with one byte more
  std::uint32_t units_of_a_share_;
};

}  // namespace slackline::sched
