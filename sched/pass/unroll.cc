#include "sched/pass/unroll.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "sched/builder.h"
#include "sched/operands.h"
#include "sched/region_tree.h"
#include "sched/schedule_rewriter.h"

namespace slackline::sched {
namespace {

// Measured: 270 to 290, with what is built of it.
constexpr std::uint64_t kBytesOfOp = 300;
constexpr std::uint64_t kMost = std::uint64_t{1} << 31;  // operations

struct Arc {
  std::uint32_t pred;  // nodes of one scope
  std::uint32_t succ;
  On on;
};

class Unroller {
 public:
  Unroller(const Schedule& schedule, const Decide& decide, const Address& address,
           const MemoryLimit& memory)
      : schedule_(schedule),
        decide_(decide),
        address_(address),
        memory_(memory),
        tree_(schedule),
        arcs_(schedule.regions().size() + 1),
        begin_(schedule.op_count() + schedule.regions().size()),
        end_(begin_.size()),
        named_(schedule.op_count(), false) {
    collect_arcs();
    for (const OpArguments& arguments : schedule.argument_table()) {
      for (const Operand* operand : operands(arguments)) {
        if (operand->is_dynamic()) named_[operand->op.value] = true;
      }
    }
  }

  Unrolled result() {
    std::uint64_t least = 0;
    for (std::uint32_t r = 0; r < schedule_.regions().size(); ++r) {
      if (tree_.around(tree_.node_of(r)) == RegionTree::kNone) least += least_ops(r);
      require(least);
    }
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) write_rank(RankId(r));
    return build();
  }

 private:
  struct Written {
    Op op;
    OpArguments arguments;
    OpId origin;
  };

  // What a region comes to at least: each attempt of a repeat, one of a retry, no alt. Beyond kMost
  // it is no longer counted.
  std::uint64_t least_ops(std::uint32_t region) const {
    const Region& r = schedule_.regions()[region];
    if (r.kind == RegionKind::kAlt) return 1;
    std::uint64_t once = 1;
    for (const std::uint32_t child : tree_.children(region)) {
      once += tree_.is_region(child) ? least_ops(tree_.region_of(child)) : 1;
    }
    const std::uint64_t times = r.kind == RegionKind::kRepeat ? r.max_attempts : 1;
    return std::min(once, kMost) * times + 1;
  }

  // `ops` more than there are.
  void require(std::uint64_t ops) const {
    if (ops > kMost) {
      throw InputError(fmt::format(
          "written out there are more than {} operations; expected fewer attempts", kMost));
    }
    memory_.require(kBytesOfOp * ops, fmt::format("writing out at least {} operations", ops),
                    "fewer attempts, or --memory SIZE if it fits all the same",
                    kBytesOfOp * written_.size());
  }

  std::uint32_t scope_of(std::uint32_t node) const {
    const std::uint32_t around = tree_.around(node);
    return around == RegionTree::kNone ? static_cast<std::uint32_t>(arcs_.size() - 1) : around;
  }

  void collect_arcs() {
    for (const Edge& edge : schedule_.edges()) {
      const auto [pred, succ] = tree_.lifted(edge.pred, edge.succ);
      arcs_[scope_of(pred)].push_back({pred, succ, tree_.is_region(pred) ? On::kDone : edge.on});
    }
    std::vector<OpId> last(2 * schedule_.channels().size());
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      const Op& op = schedule_.ops()[i];
      if (!has_channel(op.kind)) continue;
      OpId& previous = last[2 * op.channel.value + (op.kind == OpKind::kRecv ? 1 : 0)];
      if (previous.valid()) {
        const auto [pred, succ] = tree_.lifted(previous, OpId(i));
        if (tree_.is_region(pred) || tree_.is_region(succ)) {
          arcs_[scope_of(pred)].push_back(
              {pred, succ, tree_.is_region(pred) ? On::kDone : On::kIssued});
        }
      }
      previous = OpId(i);
    }
  }

  void write_rank(RankId rank) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t i = schedule_.first_op(rank).value; i < schedule_.end_op(rank).value; ++i) {
      if (tree_.around(i) == RegionTree::kNone) nodes.push_back(i);
    }
    for (std::uint32_t r = 0; r < schedule_.regions().size(); ++r) {
      const std::uint32_t node = tree_.node_of(r);
      if (tree_.around(node) == RegionTree::kNone &&
          schedule_.op(schedule_.regions()[r].entry).rank == rank) {
        nodes.push_back(node);
      }
    }
    const auto first = static_cast<std::uint32_t>(written_.size());
    write_nodes(nodes, {});
    // Of this rank alone; the other ranks' arcs have their turn.
    write_arcs(static_cast<std::uint32_t>(arcs_.size() - 1), rank);
    for (std::uint32_t i = first; i < written_.size(); ++i) written_[i].op.rank = rank;
  }

  // In program order; everything waits for `gate`.
  void write_nodes(std::vector<std::uint32_t> nodes, OpId gate) {
    const auto place = [&](std::uint32_t node) {
      return tree_.is_region(node) ? schedule_.regions()[tree_.region_of(node)].entry.value : node;
    };
    std::sort(nodes.begin(), nodes.end(),
              [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
    for (const std::uint32_t node : nodes) {
      if (tree_.is_region(node)) {
        write_region(tree_.region_of(node), gate);
      } else {
        const Op& op = schedule_.op(OpId(node));
        begin_[node] = end_[node] = write({op, schedule_.arguments(op), OpId(node)});
        if (gate.valid()) edges_.push_back({gate, begin_[node], On::kDone});
        if (named_[node]) times_[OpId(node)].push_back(begin_[node]);
        note_flag(OpId(node));
      }
    }
    // Results are those of this time round, whatever the order in the program.
    for (const std::uint32_t node : nodes) {
      if (!tree_.is_region(node)) resolve(begin_[node]);
    }
  }

  void write_arcs(std::uint32_t scope, RankId rank) {
    for (const Arc& arc : arcs_[scope]) {
      const std::uint32_t op = tree_.is_region(arc.pred)
                                   ? schedule_.regions()[tree_.region_of(arc.pred)].entry.value
                                   : arc.pred;
      if (schedule_.ops()[op].rank != rank) continue;
      edges_.push_back({end_[arc.pred], begin_[arc.succ], arc.on});
    }
  }

  void write_region(std::uint32_t region, OpId gate) {
    const Region& r = schedule_.regions()[region];
    const RankId rank = schedule_.op(r.entry).rank;
    const std::uint32_t node = tree_.node_of(region);
    OpId at = write_gate(r, Time{0});
    begin_[node] = at;
    if (gate.valid()) edges_.push_back({gate, at, On::kDone});
    if (r.kind == RegionKind::kAlt && !decide_(region)) {
      end_[node] = at;
      return;
    }
    const auto children = tree_.children(region);
    for (std::uint32_t attempt = 1;; ++attempt) {
      write_nodes({children.begin(), children.end()}, at);
      write_arcs(region, rank);
      const bool over = r.kind == RegionKind::kRepeat  ? attempt == r.max_attempts
                        : r.kind == RegionKind::kRetry ? decide_(region)
                                                       : true;
      if (!over && attempt == r.max_attempts) {
        throw InputError(
            fmt::format("{} has failed all of its {} attempts", tree_.describe(region), attempt));
      }
      at = write_gate(r, over ? Time{0} : r.backoff);
      for (const std::uint32_t child : children) edges_.push_back({end_[child], at, On::kDone});
      if (over) break;
    }
    end_[node] = at;
  }

  // A join, or a delay of `wait`.
  OpId write_gate(const Region& region, Time wait) {
    const Op& entry = schedule_.op(region.entry);
    Written gate;
    gate.op.kind = wait.count() == 0 ? OpKind::kJoin : OpKind::kDelay;
    gate.op.rank = entry.rank;
    gate.op.step = entry.step;
    gate.arguments.duration = wait;
    return write(gate);
  }

  OpId write(const Written& written) {
    if (written_.size() == written_.capacity()) require(written_.size());
    written_.push_back(written);
    return OpId(static_cast<std::uint32_t>(written_.size() - 1));
  }

  void note_flag(OpId origin) {
    const Op& op = schedule_.op(origin);
    if (!op.match.valid()) return;
    if (op.kind == OpKind::kPoll) flags_[op.match].second.push_back(end_[origin.value]);
    if (op.notify == Notify::kFlag) flags_[origin].first.push_back(end_[origin.value]);
  }

  void resolve(OpId id) {
    Written& written = written_[id.value];
    if (address_) {
      Operand& offset = written.arguments.address_offset;
      offset = address_(written.origin, offset);
    }
    for (Operand* operand : operands(written.arguments)) {
      if (!operand->is_dynamic()) continue;
      const std::vector<OpId>& times = times_[operand->op];
      if (times.empty()) {
        throw InputError(fmt::format("{} uses the result of {}, which was passed over",
                                     describe(schedule_, written.origin),
                                     describe(schedule_, operand->op)));
      }
      // What each attempt is now stands on its own. An operation's own result is the time before's.
      const bool own = operand->op == written.origin;
      if (operand->from == Operand::From::kAttempt) {
        *operand = literal(operand->of(times.size() - 1));
      } else if (own && times.size() == 1) {
        *operand = literal(operand->of(0));
      } else {
        operand->op = times[times.size() - (own ? 2 : 1)];
      }
    }
  }

  Unrolled build() {
    ScheduleBuilder builder(schedule_.rank_count());
    copy_tables(schedule_, builder);
    std::vector<OpId> origin;
    origin.reserve(written_.size());
    for (const Written& written : written_) {
      const bool plain = written.arguments == OpArguments{};
      plain ? builder.add(written.op) : builder.add(written.op, written.arguments);
      origin.push_back(written.origin);
    }
    for (const Edge& edge : edges_) builder.add_edge(edge.pred, edge.succ, edge.on);
    for (const auto& [put, turns] : flags_) {
      const auto& [puts, polls] = turns;
      if (puts.size() != polls.size()) {
        throw InputError(fmt::format("{} runs {} times, but its poll {}", describe(schedule_, put),
                                     puts.size(), polls.size()));
      }
      for (std::size_t i = 0; i < puts.size(); ++i) builder.add_flag_match(puts[i], polls[i]);
    }
    return {builder.build(), std::move(origin)};
  }

  const Schedule& schedule_;
  const Decide& decide_;
  const Address& address_;
  const MemoryLimit& memory_;
  RegionTree tree_;
  std::vector<std::vector<Arc>> arcs_;  // by region, those outside all last
  std::vector<OpId> begin_;             // of every node, what it became the last time
  std::vector<OpId> end_;
  std::vector<bool> named_;                  // by operation: operands name it
  std::map<OpId, std::vector<OpId>> times_;  // of those, what each time became
  std::vector<Written> written_;
  std::vector<Edge> edges_;
  std::map<OpId, std::pair<std::vector<OpId>, std::vector<OpId>>> flags_;  // by put: puts, polls
};

}  // namespace

Unrolled unroll(const Schedule& schedule, const Decide& decide, const Address& address,
                const MemoryLimit& memory) {
  return Unroller(schedule, decide, address, memory).result();
}

}  // namespace slackline::sched
