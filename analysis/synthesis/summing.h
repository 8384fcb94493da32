// Moves of partial sums: a rank tells another what it has of a unit, keeps it, and may add up more.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/synthesis/spreading.h"
#include "sched/ids.h"

namespace slackline::analysis {

/// One message; its units in ascending order, at least one. Its source sends what stands there when
/// the move's turn comes, and keeps it.
struct SumMove {
  sched::RankId src;
  sched::RankId dst;
  std::vector<std::uint32_t> units;
  bool adds = true;  // to what stands at dst; else takes its place
  /// Of what adds: so many of dst's next sends go before, with what stood there before. So two
  /// ranks tell each other their sums, and both have the sum of them.
  std::uint32_t behind = 0;
  friend bool operator==(const SumMove&, const SumMove&) = default;
};

/// In an order in which they can be carried out. Ports work in that order, too. What a rank gets to
/// add it adds in the order in which it comes: no sooner than what came before.
using SumMoves = std::vector<SumMove>;

/// What the ranks have of every unit, and what they are to have. Terms are numbers of ranks.
struct Summing {
  enum class Has : std::uint8_t {
    kOwners,  // a unit's owner has it: a term, its own
    kAll,     // every rank has a term of every unit: its own
  };
  std::uint32_t ranks = 1;
  std::vector<sched::RankId> owner;  // of every unit
  Has first = Has::kAll;
  bool to_all = true;  // every rank gets the whole of every unit; else its owner does

  std::uint32_t units() const { return static_cast<std::uint32_t>(owner.size()); }
};

/// How many operands a rank may keep until it adds them; each message is one.
inline constexpr std::uint32_t kMostWaiting = 15;

/// The messages that a move goes in: what adds goes in one for each run of units that follow one
/// another.
std::uint32_t messages_of(const SumMove& move);

/// Visits the moves in order: `sends` when a source sends, `comes` when that is added at the
/// target, or takes its place. False, and no more visits, if a rank has more than kMostWaiting
/// operands to add.
bool for_each_event(std::uint32_t ranks, const SumMoves& moves,
                    const std::function<void(std::size_t)>& sends,
                    const std::function<void(std::size_t)>& comes);

/// Whether the moves do what they are to. No sum has a term twice: what is added has no term in
/// common with what stands there. Nothing is lost: what takes a place has all terms of what stood
/// there, and comes only when what was added there has been sent on. Nothing is sent or added to
/// where nothing stands.
bool sums(const Summing& task, const SumMoves& moves);

}  // namespace slackline::analysis
