#include "sched/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/forget.h"
#include "base/mix.h"
#include "sched/prefetch.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kMaxRanks = 1u << 24;

// A table without the room that is not used: of a large one a copy would cost the table once more.
template <class Value>
std::vector<Value> fitted(std::vector<Value>&& table) {
  constexpr std::size_t kLarge = 1u << 20;  // bytes
  const std::size_t unused = table.capacity() - table.size();
  if (table.size() * sizeof(Value) >= kLarge) {
    base::forget_unused(table);
  } else if (unused > table.size() / 16) {
    table.shrink_to_fit();
  }
  return std::move(table);
}

// How many values of a rank that takes turns stand together. Much room for runs of many ranks would
// be left unused.
std::size_t run_of_turns(std::uint32_t ranks) { return ranks <= 1024 ? 64 : 8; }
constexpr std::size_t kMostInRun = 4 * 64;

std::uint64_t mix_of(std::span<const std::uint32_t> cells) {
  std::uint64_t mix = 0;
  for (const std::uint32_t cell : cells) mix = (mix ^ cell) * kSplitMixStep;
  return mixed(mix);
}

}  // namespace

ScheduleBuilder::ScheduleBuilder(std::uint32_t ranks) : ranks_(ranks) {
  if (ranks == 0 || ranks > kMaxRanks) {
    throw InputError(fmt::format("ranks: {} is out of range; expected 1 to {}", ranks, kMaxRanks));
  }
}

void ScheduleBuilder::reserve(std::size_t ops, std::size_t edges, std::size_t slices) {
  const std::size_t unused = turns_ ? ranks_ * run_of_turns(ranks_) : 0;
  ops_.reserve(ops + unused);
  edges_.reserve(edges + unused);
  slices_.reserve(slices + unused);
}

void ScheduleBuilder::reserve_facts(std::size_t pre, std::size_t post) {
  contract_.pre.reserve(pre);
  contract_.post.reserve(post);
}

BufferId ScheduleBuilder::add_buffer(RankId rank, std::uint64_t bytes) {
  buffers_.push_back({rank, bytes});
  return BufferId(static_cast<std::uint32_t>(buffers_.size() - 1));
}

ChannelId ScheduleBuilder::add_channel(const Channel& channel) {
  channels_.push_back(channel);
  return ChannelId(static_cast<std::uint32_t>(channels_.size() - 1));
}

SliceRange ScheduleBuilder::add_slices(std::span<const Slice> slices, RankId of) {
  if (turns_) return add_slices_in_turn(slices, of);
  if (slices.size() == 1) return add_slice(slices.front(), of);
  const auto first = static_cast<std::uint32_t>(slices_.size());
  slices_.insert(slices_.end(), slices.begin(), slices.end());
  return {first, static_cast<std::uint32_t>(slices.size())};
}

void ScheduleBuilder::take_turns() {
  if (!ops_.empty()) throw InternalError("operations that take turns, and some that did not");
  const std::size_t run = run_of_turns(ranks_);
  turns_.emplace(Turns{{ranks_, run}, {ranks_, run}, {ranks_, 4 * run}, {ranks_, run}});
}

OpId ScheduleBuilder::add_in_turn(const Op& op) {
  if (op.rank.value >= ranks_) {
    throw InputError(fmt::format("an operation belongs to rank {}, but there are {} ranks",
                                 op.rank.value, ranks_));
  }
  Op added = op;
  added.match = OpId::none();
  added.arguments = kNoArguments;
  return OpId(static_cast<std::uint32_t>(turns_->ops.add(op.rank.value, added, ops_)));
}

OpId ScheduleBuilder::add(const Op& op, const OpArguments& arguments) {
  const OpId id = add(op);
  ops_[id.value].arguments =
      place_of(ArgumentCells(arguments), arguments.duration > Time{0}, op.rank);
  return id;
}

OpId ScheduleBuilder::add_timed(const Op& op, Time duration) {
  const OpId id = add(op);
  ops_[id.value].arguments = place_of(ArgumentCells(duration), duration > Time{0}, op.rank);
  return id;
}

// Many arguments are the same duration or literal. So what has been there lately is shared: few
// places, since to look something up here and there in a large table takes longer than to write it
// behind. What names an operation is its own. Where ranks take turns each has places of its own, so
// that what it names stands together.
std::uint32_t ScheduleBuilder::place_of(const ArgumentCells& arguments, bool timed, RankId rank) {
  constexpr std::size_t kPlaces = 4;  // of durations, and as many of others
  const auto cells = arguments.all();
  if (arguments.names_op() || cells.size() > SharedArguments::kMostCells) {
    return append(arguments, rank);
  }
  if (shared_.empty()) shared_.resize(2 * kPlaces * (turns_ ? ranks_ : 1));
  const std::size_t kind = (turns_ ? 2 * rank.value : 0) + (timed ? 1 : 0);
  SharedArguments& shared = shared_[kind * kPlaces + mix_of(cells) % kPlaces];
  // The first cell says how many there are.
  if (shared.place == kNoArguments ||
      !std::equal(cells.begin(), cells.end(), shared.cells.begin())) {
    shared.place = append(arguments, rank);
    std::copy(cells.begin(), cells.end(), shared.cells.begin());
  }
  return shared.place;
}

std::uint32_t ScheduleBuilder::append(const ArgumentCells& arguments, RankId rank) {
  const auto cells = arguments.all();
  if (argument_cells_.size() + cells.size() + kMostInRun >= kNoArguments) {
    throw InputError("the schedule is too large; expected fewer arguments of its operations");
  }
  if (!turns_) {
    const auto place = static_cast<std::uint32_t>(argument_cells_.size());
    argument_cells_.insert(argument_cells_.end(), cells.begin(), cells.end());
    return place;
  }
  // One run may end amid them: once runs are put behind each other, they are in a row.
  const std::size_t place = turns_->arguments.add(rank.value, cells[0], argument_cells_);
  for (const std::uint32_t cell : cells.subspan(1)) {
    turns_->arguments.add(rank.value, cell, argument_cells_);
  }
  return static_cast<std::uint32_t>(place);
}

template <class Move>
void ScheduleBuilder::renumber(const Move& move) {
  for (FlagMatch& match : flag_matches_) {
    move(match.put);
    move(match.poll);
  }
  for (Region& region : regions_) move(region.entry);
  for (std::size_t i = 0; i < argument_cells_.size(); i += cells_of(argument_cells_[i])) {
    for_each_named(&argument_cells_[i], [&move](std::uint32_t& cell) {
      OpId op(cell);
      move(op);
      cell = op.value;
    });
  }
}

void ScheduleBuilder::end_turns() {
  if (!turns_) return;
  if (slices_.size() >> 32 != 0) {  // with the room between them: places have 32 bits
    throw InputError("the schedule is too large; expected fewer than 2^31 operations");
  }
  turns_->arguments.gather(argument_cells_);
  const auto move = [](std::uint32_t& place, const base::OwnerRuns& runs) {
    place = static_cast<std::uint32_t>(runs.gathered(place));
  };
  const auto move_op = [&](OpId& id) {
    if (id.valid()) move(id.value, turns_->ops);
  };
  turns_->ops.locate();
  turns_->ops.gather(ops_, [&](Op& op) {
    if (op.arguments != kNoArguments) move(op.arguments, turns_->arguments);
  });
  turns_->edges.locate();
  turns_->edges.gather(edges_, [&](Edge& edge) {
    move_op(edge.pred);
    move_op(edge.succ);
  });
  renumber(move_op);
  turns_.reset();
}

void ScheduleBuilder::group_by_rank() {
  if (grouped_) return;
  std::vector<std::uint32_t> next(ranks_ + 1, 0);
  for (const Op& op : ops_) ++next[op.rank.value + 1];
  for (std::uint32_t r = 0; r < ranks_; ++r) next[r + 1] += next[r];
  std::vector<std::uint32_t> place(ops_.size());
  std::vector<Op> ops(ops_.size());
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    place[i] = next[ops_[i].rank.value]++;
    ops[place[i]] = ops_[i];
  }
  ops_ = std::move(ops);
  const auto move = [&](OpId& id) {
    if (id.valid()) id = OpId(place[id.value]);
  };
  for (Edge& edge : edges_) {
    move(edge.pred);
    move(edge.succ);
  }
  renumber(move);
  grouped_ = true;
}

void ScheduleBuilder::prefetch_matched(std::size_t i, std::span<const Op> ops) const {
  if (i + kFetchedAhead >= flag_matches_.size()) return;
  const FlagMatch& match = flag_matches_[i + kFetchedAhead];
  if (match.put.value < ops.size()) __builtin_prefetch(&ops[match.put.value], 1);
  if (match.poll.value < ops.size()) __builtin_prefetch(&ops[match.poll.value], 1);
}

// Finds where each rank's operations begin, and the steps, as well: operations are gone through
// once.
void ScheduleBuilder::match_channels(Schedule& schedule) const {
  // The k-th message of a channel meets its k-th receive: each side keeps a chain of what the other
  // has not answered yet, threaded through Op::match while it is open.
  struct Open {
    OpId first;
    OpId last;
    bool receives = false;
  };
  std::vector<Open> open(schedule.channels_.size());
  std::vector<Op>& ops = schedule.ops_;
  std::uint32_t steps = 0;
  RankId rank{0};
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    prefetch_ahead(&ops[i]);
    // What a message is about to meet is another rank's, and far away.
    if (i + kFetchedAhead < ops.size()) {
      const ChannelId channel = ops[i + kFetchedAhead].channel;
      if (channel.valid() && open[channel.value].first.valid()) {
        __builtin_prefetch(&ops[open[channel.value].first.value], 1);
      }
    }
    for (; rank < ops[i].rank; ++rank.value) schedule.rank_begin_[rank.value + 1] = i;
    steps = std::max(steps, ops[i].step + 1);
    const bool receive = ops[i].kind == OpKind::kRecv;
    if (!receive && !is_fifo_source(ops[i])) continue;
    Open& side = open[ops[i].channel.value];
    if (side.first.valid() && side.receives != receive) {
      const OpId other = side.first;
      side.first = ops[other.value].match;
      ops[i].match = other;
      ops[other.value].match = OpId(i);
      continue;
    }
    if (side.first.valid()) {
      ops[side.last.value].match = OpId(i);
    } else {
      side.first = OpId(i);
      side.receives = receive;
    }
    side.last = OpId(i);
  }
  for (; rank.value < ranks_; ++rank.value) {
    schedule.rank_begin_[rank.value + 1] = static_cast<std::uint32_t>(ops.size());
  }
  schedule.step_count_ = steps;
  for (Open& side : open) {  // what nothing answered has no match
    for (OpId id = side.first; id.valid();) {
      id = std::exchange(ops[id.value].match, OpId::none());
    }
  }
  for (std::size_t i = 0; i < flag_matches_.size(); ++i) {
    prefetch_matched(i, ops);
    const FlagMatch& match = flag_matches_[i];
    ops[match.put.value].match = match.poll;
    ops[match.poll.value].match = match.put;
  }
}

// Rank by rank where they stand so: then a copy of one rank's is enough, and stays in the cache.
void ScheduleBuilder::sort_edges(Schedule& schedule) {
  // While edges are dealt out, begin[op] is where the next one into `op` goes. In the end that is
  // where those of the operation after it begin.
  std::vector<std::uint32_t>& begin = schedule.edge_begin_;
  const auto ops = static_cast<std::uint32_t>(schedule.ops_.size());
  begin.assign(std::size_t{ops} + 1, 0);
  const std::vector<std::uint32_t>& rank_begin = schedule.rank_begin_;
  std::size_t last_rank = 0;
  bool by_rank = true;  // those into one rank's operations follow those into the ranks' before
  bool by_op = true;    // the same of operations: as they come where each waits for what was before
  OpId last_op{0};
  for (const Edge& edge : edges_) {
    prefetch_ahead(&edge);
    ++begin[edge.succ.value];
    by_op = by_op && edge.succ >= last_op;
    last_op = edge.succ;
    while (edge.succ.value >= rank_begin[last_rank + 1]) ++last_rank;
    by_rank = by_rank && edge.succ.value >= rank_begin[last_rank];
  }
  std::uint32_t kept = 0;
  // Few edges enter one operation, so each run is sorted by itself and closed up over repeats. It
  // stands in edges_ itself, not before `kept`, or elsewhere.
  const auto keep = [&](Edge* first, Edge* last) {
    if (last - first == 2) {
      if (first[1] < first[0]) std::swap(first[0], first[1]);
    } else if (last - first > 2) {
      std::sort(first, last);
    }
    for (const Edge* edge = first; edge != last; ++edge) {
      if (edge != first && edge[0] == edge[-1]) continue;
      edges_[kept++] = *edge;
    }
  };
  if (by_op) {
    Edge* first = edges_.data();
    for (std::uint32_t op = 0; op < ops; ++op) {
      prefetch_ahead(first);
      Edge* const last = first + std::exchange(begin[op], kept);
      keep(first, last);
      first = last;
    }
    begin[ops] = kept;
    edges_.resize(kept);
    schedule.edges_ = fitted(std::move(edges_));
    return;
  }
  std::uint32_t before = 0;
  for (std::uint32_t& place : begin) before += std::exchange(place, before);
  std::vector<Edge> sorted;
  const auto sort_into = [&](std::uint32_t first_op, std::uint32_t end_op) {
    const std::uint32_t base = begin[first_op];
    const std::uint32_t end = begin[end_op];
    if (sorted.size() < end - base) sorted.resize(end - base);
    for (std::uint32_t e = base; e < end; ++e) {
      sorted[begin[edges_[e].succ.value]++ - base] = edges_[e];
    }
    Edge* first = sorted.data();
    for (std::uint32_t op = first_op; op < end_op; ++op) {
      Edge* const last = sorted.data() + (std::exchange(begin[op], kept) - base);
      keep(first, last);
      first = last;
    }
  };
  if (by_rank) {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      sort_into(schedule.rank_begin_[rank], schedule.rank_begin_[rank + 1]);
    }
  } else {
    sort_into(0, ops);
  }
  begin[ops] = kept;
  edges_.resize(kept);
  schedule.edges_ = fitted(std::move(edges_));
}

Schedule ScheduleBuilder::build() {
  end_turns();
  const Diagnostics found = validate();
  if (!found.empty()) throw InputError(found.front().message);
  Schedule schedule = build_draft();
  schedule.digest_ = digest_of(schedule);
  return schedule;
}

Schedule ScheduleBuilder::build_draft() {
  end_turns();
  group_by_rank();
  Schedule schedule;
  schedule.ops_ = fitted(std::move(ops_));
  schedule.rank_begin_.assign(ranks_ + 1, 0);
  schedule.buffers_ = fitted(std::move(buffers_));
  schedule.slices_ = fitted(std::move(slices_));
  schedule.channels_ = fitted(std::move(channels_));
  schedule.regions_ = fitted(std::move(regions_));
  schedule.argument_cells_ = fitted(std::move(argument_cells_));
  schedule.contract_.pre = fitted(std::move(contract_.pre));
  schedule.contract_.post = fitted(std::move(contract_.post));
  schedule.message_bytes_ = message_bytes_;
  schedule.title_ = std::move(title_);
  match_channels(schedule);
  sort_edges(schedule);
  *this = ScheduleBuilder(ranks_);
  return schedule;
}

void ScheduleBuilder::forget_before(Schedule& draft, OpId op) {
  draft.slices_ = {};
  base::forget_front(draft.ops_, op.value);
  base::forget_front(draft.edges_, draft.edge_begin_[op.value]);
  base::forget_front(draft.edge_begin_, op.value);
}

}  // namespace slackline::sched
