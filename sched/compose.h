// Several schedules as one: multicasts that overlap in time and in ranks, or follow one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sched/schedule.h"

namespace slackline::sched {

/// One schedule's place in the whole.
struct Part {
  const Schedule* schedule = nullptr;
  /// The whole's rank that each of the part's ranks is; no rank twice.
  std::vector<RankId> rank_of;
  /// Not before this, counted from the start of the whole; ≥ 0 and not kForever.
  Time start{0};
  /// An earlier part. On every rank that both have, this part's operations wait until that rank has
  /// done all of the other's.
  std::optional<std::size_t> after;
  /// The part's rank that `start` holds back (a root whose message is not there yet, while its
  /// receivers may make themselves ready); none(): all of them.
  RankId start_rank = RankId::none();
};

/// Where a part's operations on one rank stand in the whole: first the delay and the join that hold
/// it back, if any, then its own in their order.
struct PartRange {
  OpId first;
  OpId own;
  OpId end;
};

/// Where the parts of a whole stand in it.
struct PartMap {
  std::vector<std::uint32_t> of_op;      // by operation of the whole
  std::vector<PartRange> ranges;         // of every part and every rank of it
  std::vector<std::size_t> range_begin;  // by part, in `ranges`

  std::size_t count() const { return range_begin.size() - 1; }
  /// `rank` counts the part's own ranks.
  const PartRange& ops(std::size_t part, RankId rank) const {
    return ranges[range_begin[part] + rank.value];
  }
};

/// An operation of a part waits for one of another part, on one rank of the whole.
struct PartEdge {
  std::size_t pred_part = 0;
  OpId pred;  // of the part's schedule
  std::size_t succ_part = 0;
  OpId succ;
  On on = On::kDone;
};

struct Composition {
  Schedule schedule;
  PartMap parts;
};

/// Parts keep their channels, buffers, values, contracts and steps; the size of the whole's message
/// is the sum of theirs. A part is held back at its operations that nothing else holds back, and
/// these alone: what follows them, by edges or on their channels, follows of itself. In program
/// order a rank has its parts by start (no earlier than that of the part they come after), then by
/// index, so that a lane takes the oldest work first. A whole of sound parts is sound: parts share
/// no memory and no channel. Whether `edges` leave it so is for whoever gives them. Linear in the
/// operations.
///
/// Throws InputError, naming the part, for ranks out of range or given twice, a start below 0,
/// `after` or `start_rank` out of range, an edge of no operation or between two ranks, and where
/// the whole has 2^31 operations or more; and Unsupported for a dynamic part.
Composition compose(std::span<const Part> parts, std::uint32_t ranks, std::string title = "",
                    std::span<const PartEdge> edges = {});

}  // namespace slackline::sched
