// Collects a schedule's parts and makes the immutable value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/owner_rows.h"
#include "base/owner_runs.h"
#include "sched/argument_table.h"
#include "sched/diagnostic.h"
#include "sched/op.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// Operations may be added in any order of ranks; those of one rank in program order. The ids that
/// `add` returns are the builder's own; `build` renumbers so that ranks are grouped.
class ScheduleBuilder {
 public:
  /// `ranks` in 1 … 2^24.
  explicit ScheduleBuilder(std::uint32_t ranks);

  /// Room for so many. Large room that is not used costs no memory, so these may be bounds.
  void reserve(std::size_t ops, std::size_t edges, std::size_t slices);
  /// Of so many operations: what they have mostly.
  void reserve_arguments(std::size_t count) { argument_cells_.reserve(kUsualCells * count); }
  void reserve_facts(std::size_t pre, std::size_t post);
  void reserve_regions(std::size_t count) { regions_.reserve(count); }
  void reserve_flag_matches(std::size_t count) { flag_matches_.reserve(count); }
  /// To be called before the first operation, where those of different ranks come by turns and each
  /// rank has many: grouping them then takes less time and memory. The ids that `add` returns are
  /// not in a row then, and the table of slices has some that nobody names.
  void take_turns();
  void set_title(std::string title) { title_ = std::move(title); }
  void set_message_bytes(std::uint64_t bytes) { message_bytes_ = bytes; }

  BufferId add_buffer(RankId rank, std::uint64_t bytes);
  ChannelId add_channel(const Channel& channel);
  /// `of`: the rank whose operations name them. Where operations take turns, slices of one rank are
  /// put together too, which says where they stand and nothing else.
  SliceRange add_slices(std::span<const Slice> slices, RankId of = RankId(0));
  SliceRange add_slice(const Slice& slice, RankId of = RankId(0)) {
    if (turns_) return add_slices_in_turn({&slice, 1}, of);
    slices_.push_back(slice);
    return {static_cast<std::uint32_t>(slices_.size() - 1), 1};
  }

  /// Adds `op` (its match and arguments fields are ignored) at the end of its rank's program.
  OpId add(const Op& op) {
    if (turns_) return add_in_turn(op);
    if (!ops_.empty() && op.rank < ops_.back().rank) grouped_ = false;
    Op& added = ops_.emplace_back(op);
    added.match = OpId::none();
    added.arguments = kNoArguments;
    return OpId(static_cast<std::uint32_t>(ops_.size() - 1));
  }
  OpId add(const Op& op, const OpArguments& arguments);
  /// That has a duration, and no other arguments.
  OpId add_timed(const Op& op, Time duration);
  /// The id that the next operation gets, unless they take turns.
  OpId next_op() const { return OpId(static_cast<std::uint32_t>(ops_.size())); }

  void add_edge(OpId pred, OpId succ, On on = On::kDone) {
    if (turns_) {
      turns_->edges.add(turns_->ops.owner_of(succ.value), Edge{pred, succ, on}, edges_);
    } else {
      edges_.push_back({pred, succ, on});
    }
  }
  /// Joins a put that notifies by flag to the poll that sees it. Matches of sends and of puts with
  /// immediate follow from the order on their channel and are made by build().
  void add_flag_match(OpId put, OpId poll) { flag_matches_.push_back({put, poll}); }
  void add_region(const Region& region) { regions_.push_back(region); }
  void add_pre(const Fact& fact) { contract_.pre.push_back(fact); }
  /// Of a builder that has none yet.
  void set_pre(std::vector<Fact> facts) { contract_.pre = std::move(facts); }
  void add_post(const Fact& fact) { contract_.post.push_back(fact); }

  Channel& channel(ChannelId id) { return channels_[id.value]; }
  /// Names each operation anew that the arguments of an operation name: `now(op)` says which one
  /// it has become. Not while operations take turns. Without an operation that they name, they may
  /// be shared, and there is nothing to be done.
  template <class Now>
  void rename_operands(OpId id, const Now& now) {
    const std::uint32_t place = ops_[id.value].arguments;
    if (place == kNoArguments) return;
    for_each_named(&argument_cells_[place], [&](std::uint32_t& op) { op = now(OpId(op)).value; });
  }

  /// Everything in the schedule's tables that does not fit: indices out of range, edges between
  /// ranks, slices past their buffer, operations with arguments their kind does not have. Unmatched
  /// messages, cycles and races are the verifier's.
  Diagnostics validate() const;

  /// Makes the value and leaves the builder empty. Throws InputError with the first finding of
  /// validate().
  Schedule build();

  /// The same for a pass that takes the schedule further at once: neither checked nor given a
  /// digest (it is zero), which the last pass does for the whole.
  Schedule build_draft();

  /// Of a draft of whose tables a pass has made its own, and that it goes through by rank: gives
  /// back what its slices take, and most of what the operations before `op` and their edges do.
  /// Nobody looks at any of these again.
  static void forget_before(Schedule& draft, OpId op);

 private:
  struct FlagMatch {
    OpId put;
    OpId poll;
  };

  // Of what is in the tables, by rank, while operations take turns.
  struct Turns {
    base::OwnerRuns ops;
    base::OwnerRuns edges;
    base::OwnerRuns arguments;
    base::OwnerRows slices;
  };

  // Arguments that others may share: where they stand, and what they are.
  struct SharedArguments {
    static constexpr std::size_t kMostCells = 7;
    std::uint32_t place = kNoArguments;
    std::array<std::uint32_t, kMostCells> cells;
  };
  static constexpr std::size_t kUsualCells = 8;  // of an operation's arguments, at the most

  OpId add_in_turn(const Op& op);
  SliceRange add_slices_in_turn(std::span<const Slice> slices, RankId of) {
    const std::uint32_t owner = of.value < ranks_ ? of.value : 0;
    return {static_cast<std::uint32_t>(turns_->slices.add(owner, slices, slices_)),
            static_cast<std::uint32_t>(slices.size())};
  }
  // Those that say for how long are looked for among themselves.
  std::uint32_t place_of(const ArgumentCells& arguments, bool timed, RankId rank);
  std::uint32_t append(const ArgumentCells& arguments, RankId rank);
  void end_turns();
  template <class Move>
  void renumber(const Move& move);
  void group_by_rank();
  // Ahead of the i-th flag match: its operations stand here and there in the table. What does not
  // exist is left alone.
  void prefetch_matched(std::size_t i, std::span<const Op> ops) const;
  void match_channels(Schedule& schedule) const;
  void sort_edges(Schedule& schedule);

  std::uint32_t ranks_;
  bool grouped_ = true;
  std::optional<Turns> turns_;
  std::vector<Op> ops_;
  std::vector<Buffer> buffers_;
  std::vector<Slice> slices_;
  std::vector<Channel> channels_;
  std::vector<Region> regions_;
  std::vector<std::uint32_t> argument_cells_;
  std::vector<SharedArguments> shared_;
  std::vector<Edge> edges_;
  std::vector<FlagMatch> flag_matches_;
  Contract contract_;
  std::uint64_t message_bytes_ = 0;
  std::string title_;
};

}  // namespace slackline::sched
