#include "sched/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/grouped.h"
#include "sched/program_writer.h"
#include "sched/schedule_rewriter.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMaxOps = 1ull << 31;  // of which each has two events
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

void check(std::span<const Part> parts, std::uint32_t ranks) {
  std::vector<std::size_t> taken_by(ranks, parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Part& part = parts[p];
    const auto refuse = [p](const std::string& what) {
      throw InputError(fmt::format("part {}: {}", p, what));
    };
    require_static(*part.schedule, "compose");
    if (part.rank_of.size() != part.schedule->rank_count()) {
      refuse(fmt::format("{} ranks are named; expected {}", part.rank_of.size(),
                         part.schedule->rank_count()));
    }
    for (const RankId rank : part.rank_of) {
      if (rank.value >= ranks) {
        refuse(fmt::format("{} is no rank; expected 0 to {}", rank.value, ranks - 1));
      }
      if (std::exchange(taken_by[rank.value], p) == p) {
        refuse(fmt::format("rank {} stands twice; expected it once", rank.value));
      }
    }
    if (part.start < Time{0} || part.start == kForever) {
      refuse("its start is out of range; expected 0 or later");
    }
    if (part.after && *part.after >= p) {
      refuse(fmt::format("it comes after part {}; expected an earlier one", *part.after));
    }
    if (part.start_rank.valid() && part.start_rank.value >= part.rank_of.size()) {
      refuse(fmt::format("start rank {} is none of its ranks", part.start_rank.value));
    }
  }
}

// The whole's rank of an operation that an edge names.
RankId rank_in_whole(std::span<const Part> parts, std::size_t part, OpId op) {
  if (part >= parts.size()) {
    throw InputError(
        fmt::format("part {}: an edge names it; expected one of {}", part, parts.size()));
  }
  const Schedule& schedule = *parts[part].schedule;
  if (op.value >= schedule.op_count()) {
    throw InputError(fmt::format("part {}: an edge names its operation {}; expected one below {}",
                                 part, op.value, schedule.op_count()));
  }
  return parts[part].rank_of[schedule.op(op).rank.value];
}

void check(std::span<const PartEdge> edges, std::span<const Part> parts) {
  for (const PartEdge& edge : edges) {
    const RankId pred = rank_in_whole(parts, edge.pred_part, edge.pred);
    const RankId succ = rank_in_whole(parts, edge.succ_part, edge.succ);
    if (pred == succ) continue;
    throw InputError(
        fmt::format("part {}: an edge leads to it from rank {} to {}; expected one rank",
                    edge.succ_part, pred.value, succ.value));
  }
}

class Composer {
 public:
  Composer(std::span<const Part> parts, std::uint32_t ranks)
      : parts_(parts), ranks_(ranks), out_(ranks), local_rank_(ranks, kNowhere) {}

  Composition run(std::string title, std::span<const PartEdge> edges) {
    order_parts();
    place();
    add_tables();
    add_programs();
    for (std::size_t p = 0; p < parts_.size(); ++p) add_edges(p);
    for (const PartEdge& edge : edges) {
      out_.add_edge(copies_[edge.pred_part][edge.pred], copies_[edge.succ_part][edge.succ],
                    edge.on);
    }
    out_.set_title(std::move(title));
    return {out_.build(), std::move(map_)};
  }

 private:
  void order_parts() {
    std::vector<Time> key(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      key[p] = parts_[p].start;
      if (parts_[p].after) key[p] = std::max(key[p], key[*parts_[p].after]);
    }
    order_.resize(parts_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  }

  bool has_delay(std::size_t p, std::uint32_t i) const {
    const Part& part = parts_[p];
    return part.start > Time{0} && (!part.start_rank.valid() || part.start_rank.value == i);
  }
  PartRange& range(std::size_t p, std::uint32_t i) { return map_.ranges[map_.range_begin[p] + i]; }
  static std::uint32_t size(const PartRange& range) { return range.end.value - range.first.value; }

  // By rank of the part, the rank of the part it comes after; kNowhere where that has nothing.
  std::vector<std::uint32_t> predecessors(std::size_t p) {
    const Part& part = parts_[p];
    std::vector<std::uint32_t> result(part.rank_of.size(), kNowhere);
    if (!part.after) return result;
    const std::vector<RankId>& before = parts_[*part.after].rank_of;
    for (std::uint32_t i = 0; i < before.size(); ++i) local_rank_[before[i].value] = i;
    for (std::uint32_t i = 0; i < part.rank_of.size(); ++i) {
      const std::uint32_t at = local_rank_[part.rank_of[i].value];
      if (at != kNowhere && size(range(*part.after, at)) != 0) result[i] = at;
    }
    for (const RankId rank : before) local_rank_[rank.value] = kNowhere;
    return result;
  }

  // Where every operation will stand.
  void place() {
    map_.range_begin.assign(1, 0);
    for (const Part& part : parts_) {
      map_.range_begin.push_back(map_.range_begin.back() + part.rank_of.size());
    }
    map_.ranges.resize(map_.range_begin.back());
    std::vector<std::uint64_t> used(ranks_ + 1, 0);
    std::uint64_t total = 0;
    for (const std::size_t p : order_) {
      const Part& part = parts_[p];
      const std::vector<std::uint32_t> before = predecessors(p);
      for (std::uint32_t i = 0; i < part.rank_of.size(); ++i) {
        const std::uint32_t gates = (has_delay(p, i) ? 1u : 0u) + (before[i] != kNowhere ? 1u : 0u);
        const std::uint32_t own =
            part.schedule->end_op(RankId(i)).value - part.schedule->first_op(RankId(i)).value;
        total += gates + own;
        if (total >= kMaxOps) {
          throw InputError(
              fmt::format("part {}: with it the whole has {} operations; expected "
                          "less than {}",
                          p, total, kMaxOps));
        }
        std::uint64_t& end = used[part.rank_of[i].value + 1];
        PartRange& at = range(p, i);
        at.first = OpId(static_cast<std::uint32_t>(end));
        at.own = OpId(at.first.value + gates);
        at.end = OpId(at.own.value + own);
        end = at.end.value;
      }
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) used[r + 1] += used[r];
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      for (std::uint32_t i = 0; i < parts_[p].rank_of.size(); ++i) {
        PartRange& at = range(p, i);
        const auto base = static_cast<std::uint32_t>(used[parts_[p].rank_of[i].value]);
        at = {OpId(at.first.value + base), OpId(at.own.value + base), OpId(at.end.value + base)};
      }
    }
    map_.of_op.resize(total);
  }

  void add_tables() {
    std::uint64_t ops = 0, edges = 0, slices = 0, channels = 0, buffers = 0;
    for (const Part& part : parts_) {
      ops += part.schedule->op_count();
      edges += part.schedule->edges().size();
      slices += part.schedule->slices().size();
      channels += part.schedule->channels().size();
      buffers += part.schedule->buffers().size();
    }
    for (const std::uint64_t count : {edges, slices, channels, buffers}) {
      if (count >= kNowhere) {
        throw InputError(
            fmt::format("the whole has a table of {} entries; expected less than {}; compose fewer "
                        "parts",
                        count, kNowhere));
      }
    }
    out_.reserve(map_.of_op.size(), edges + edges / 8, slices);
    copies_.reserve(parts_.size());
    std::uint64_t values = 0;
    std::uint64_t bytes = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Schedule& schedule = *parts_[p].schedule;
      const auto first_value = static_cast<std::uint32_t>(values);
      values += value_count(schedule.contract());
      if (values > kNowhere) {
        throw InputError(fmt::format("part {}: its values do not fit behind the others'", p));
      }
      copies_.emplace_back(schedule, out_, PartPlace{parts_[p].rank_of, first_value});
      const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - bytes;
      bytes += std::min(room, schedule.message_bytes());
    }
    out_.set_message_bytes(bytes);
  }

  // Rank by rank, so that the builder's numbers are the whole's.
  void add_programs() {
    struct Piece {
      std::size_t part;
      std::uint32_t rank;  // of the part
    };
    const base::Grouped<Piece, std::size_t> pieces(ranks_, [&](auto&& take) {
      for (const std::size_t p : order_) {
        for (std::uint32_t i = 0; i < parts_[p].rank_of.size(); ++i) {
          take(parts_[p].rank_of[i].value, {p, i});
        }
      }
    });
    for (const Piece& piece : pieces.all()) add_program(piece.part, piece.rank);
  }

  void add_program(std::size_t p, std::uint32_t i) {
    const Part& part = parts_[p];
    const Schedule& schedule = *part.schedule;
    const PartRange& at = range(p, i);
    std::fill(map_.of_op.begin() + at.first.value, map_.of_op.begin() + at.end.value,
              static_cast<std::uint32_t>(p));
    const OpPlace gate{part.rank_of[i]};
    if (has_delay(p, i)) out_.delay(gate, part.start);
    if (out_.next_op() < at.own) out_.join(gate);
    for (OpId id = schedule.first_op(RankId(i)); id < schedule.end_op(RankId(i)); ++id.value) {
      copies_[p].keep(id);
    }
  }

  void add_edges(std::size_t p) {
    copies_[p].finish();
    add_gates(p);
    if (parts_[p].after) add_waits(p);
  }

  // From the last thing that holds the part back on a rank to all that nothing else holds back.
  void add_gates(std::size_t p) {
    const Schedule& schedule = *parts_[p].schedule;
    std::vector<char> channel_open(2 * schedule.channels().size(), 0);
    for (std::uint32_t i = 0; i < schedule.rank_count(); ++i) {
      const PartRange& at = range(p, i);
      if (at.own.value - at.first.value == 2) out_.add_edge(at.first, OpId(at.first.value + 1));
      if (at.own == at.first) continue;
      const OpId gate(at.own.value - 1);
      const std::uint32_t begin = schedule.first_op(RankId(i)).value;
      for (std::uint32_t o = begin; o < schedule.end_op(RankId(i)).value; ++o) {
        const Op& op = schedule.ops()[o];
        if (has_channel(op.kind) && op.kind != OpKind::kFlush) {
          char& open = channel_open[2 * op.channel.value + (op.kind == OpKind::kRecv ? 1 : 0)];
          if (std::exchange(open, 1) != 0) continue;
        }
        if (!schedule.edges_into(OpId(o)).empty()) continue;
        out_.add_edge(gate, OpId(at.own.value + (o - begin)));
      }
    }
  }

  // From what nothing of the earlier part waits for to the join.
  void add_waits(std::size_t p) {
    const std::size_t q = *parts_[p].after;
    const Schedule& before = *parts_[q].schedule;
    std::vector<char> awaited(before.op_count(), 0);
    for (const Edge& edge : before.edges()) {
      if (edge.on == On::kDone) awaited[edge.pred.value] = 1;
    }
    const std::vector<std::uint32_t> rank_before = predecessors(p);
    for (std::uint32_t i = 0; i < rank_before.size(); ++i) {
      if (rank_before[i] == kNowhere) continue;
      const OpId join(range(p, i).own.value - 1);
      const RankId rank(rank_before[i]);
      const PartRange& at = range(q, rank.value);
      if (at.own == at.end) out_.add_edge(OpId(at.own.value - 1), join);
      for (OpId id = before.first_op(rank); id < before.end_op(rank); ++id.value) {
        if (awaited[id.value] == 0) out_.add_edge(copies_[q][id], join);
      }
    }
  }

  std::span<const Part> parts_;
  std::uint32_t ranks_;
  ProgramWriter out_;
  std::vector<std::uint32_t> local_rank_;  // by rank of the whole, while a part is looked at
  std::vector<std::size_t> order_;         // of the parts, in program order
  std::vector<ScheduleRewriter> copies_;   // by part
  PartMap map_;
};

}  // namespace

Composition compose(std::span<const Part> parts, std::uint32_t ranks, std::string title,
                    std::span<const PartEdge> edges) {
  Composer composer(parts, ranks);
  check(parts, ranks);
  check(edges, parts);
  return composer.run(std::move(title), edges);
}

}  // namespace slackline::sched
