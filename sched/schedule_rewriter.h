// What a pass does not change: a schedule's tables are copied into a builder, and what named its
// operations names what they have become.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sched/builder.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// Where the ranks and values of a schedule are in a larger one.
struct PartPlace {
  std::span<const RankId> rank_of;  // by rank; empty: the same
  std::uint32_t first_value = 0;    // added to each value
};

/// The number that the first entry of a copied table got.
struct TableBases {
  std::uint32_t buffer = 0;
  std::uint32_t slice = 0;
  std::uint32_t channel = 0;
};

/// Copies title, message size, buffers, slices, channels and contract behind what `out` has: all
/// but what speaks of operations.
TableBases copy_tables(const Schedule& schedule, ScheduleBuilder& out, const PartPlace& place = {});

/// One more than the highest value that a contract names.
std::uint64_t value_count(const Contract& contract);

/// A pass keeps operations one by one, rank by rank, in the program order that it wants, and adds
/// its own to the builder before, between and after them. What it does not keep is dropped.
class ScheduleRewriter {
 public:
  /// Copies the tables. `in`, `out` and what `place` refers to must outlive this.
  ScheduleRewriter(const Schedule& in, ScheduleBuilder& out, const PartPlace& place = {});

  /// Copies an operation to the end of its rank's program.
  OpId keep(OpId id);
  /// What an operation has become so far; none() if nothing.
  OpId operator[](OpId id) const { return now_[id.value]; }

  /// Once all of a rank's operations are there: their edges. Rank by rank from the first on, as far
  /// as a pass wants to have a rank's edges together; finish() does it for the others.
  void keep_edges(RankId rank);

  /// Once all operations are there: their edges and flag matches, the operands that name
  /// operations, and the regions. Edges and matches with a dropped operation are left out. Throws
  /// InternalError if an operand names a dropped one, or if a region begins or ends with one.
  void finish();

 private:
  struct FlagMatch {
    OpId put;
    OpId poll;
  };

  OpId named(OpId id) const;

  const Schedule& in_;
  ScheduleBuilder& out_;
  const PartPlace place_;
  const TableBases bases_;
  std::vector<OpId> now_;
  std::vector<OpId> dependent_;          // kept operations whose operands name operations
  std::uint32_t next_rank_ = 0;          // of which the edges are still to be kept
  std::vector<FlagMatch> flag_matches_;  // of the ranks before, as `in` has them
};

}  // namespace slackline::sched
