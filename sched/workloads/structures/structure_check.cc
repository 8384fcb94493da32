#include "sched/workloads/structures/structure_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <queue>

#include "base/enum_names.h"
#include "sched/kept_memory.h"
#include "sched/workloads/structures/structure_words.h"

namespace slackline::sched {
namespace {

constexpr double kInstant_s = 1e-12;

std::string describe(const StructureOp& op) {
  return fmt::format("rank {}'s {} (operation {}, {})", op.rank.value, name(op.access), op.index,
                     name(op.level));
}

// Whether `level` lets a write or a read, of another rank or its own, run beside.
bool allows(Promise level, bool write, bool same_rank) {
  switch (level) {
    case Promise::kWrite:
      return write;
    case Promise::kRead:
      return !write;
    case Promise::kLocal:
      return same_rank;
    default:
      return true;
  }
}

struct Span {
  double begin_s;
  double end_s;
  const StructureOp* op;
};

// The operations on one structure that are under way. Whether two may overlap depends on little:
// what each promises, whether it writes, and whether both are of one rank. So these kinds are
// counted, by rank and in all, and the operations themselves are looked at only where a count says
// that one of them is forbidden. Else each operation would be held against one of every other rank.
class OpenSpans {
 public:
  explicit OpenSpans(std::uint32_t ranks) : of_rank_(ranks) {}

  // Lets go of what has ended by then.
  void end_by(double now_s) {
    while (!by_end_.empty() && !(by_end_.top().end_s > now_s + kInstant_s)) {
      count(*by_end_.top().op, -1);
      by_end_.pop();
    }
    if (open_.size() > 2 * by_end_.size() + 16) keep_only_after(now_s);
  }
  void end_all() {
    end_by(std::numeric_limits<double>::infinity());
    open_.clear();
  }
  void add(const Span& span) {
    if (!(span.end_s > span.begin_s + kInstant_s)) return;
    count(*span.op, 1);
    by_end_.push(span);
    open_.push_back(span);
  }
  bool has_forbidden(const StructureOp& op) const {
    const Counts& own = of_rank_[op.rank.value];
    const bool write = is_write(op.access);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const auto level = static_cast<Promise>(kind / 2);
      const auto forbid = [&](bool same) {
        return !allows(op.level, kind % 2 != 0, same) || !allows(level, write, same);
      };
      if ((own[kind] > 0 && forbid(true)) || (in_all_[kind] > own[kind] && forbid(false))) {
        return true;
      }
    }
    return false;
  }
  // In the order of their begins.
  const std::vector<Span>& under_way(double now_s) {
    keep_only_after(now_s);
    return open_;
  }

 private:
  static constexpr std::size_t kKinds = 2 * (static_cast<std::size_t>(Promise::kChecksum) + 1);
  using Counts = std::array<std::uint32_t, kKinds>;
  struct EndsLater {
    bool operator()(const Span& a, const Span& b) const { return a.end_s > b.end_s; }
  };

  void count(const StructureOp& op, int more) {
    const std::size_t kind = 2 * static_cast<std::size_t>(op.level) + (is_write(op.access) ? 1 : 0);
    in_all_[kind] += static_cast<std::uint32_t>(more);
    of_rank_[op.rank.value][kind] += static_cast<std::uint32_t>(more);
  }
  void keep_only_after(double now_s) {
    std::erase_if(open_, [&](const Span& span) { return !(span.end_s > now_s + kInstant_s); });
  }

  Counts in_all_{};
  std::vector<Counts> of_rank_;
  std::priority_queue<Span, std::vector<Span>, EndsLater> by_end_;
  std::vector<Span> open_;  // some of which may have ended
};

}  // namespace

FinalMemory kept_memory(const Schedule& schedule, const Trace& trace) {
  const KeptMemory kept(schedule);
  return [kept, &trace](BufferId id) -> std::span<const std::byte> {
    if (trace.memory.empty() || !kept.keeps(id)) return {};
    return kept.of(id, trace.memory);
  };
}

std::string_view name(Breach breach) {
  constexpr base::EnumNames<Breach, 11> kNames = {"lost", "twice",   "foreign", "unreachable",
                                                  "flag", "pointer", "order",   "wrong",
                                                  "runs", "overlap", "torn"};
  return kNames[breach];
}

std::vector<Finding> check_handlers(const StructureProgram& program, const Trace& trace) {
  std::vector<Finding> found;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> last_s;
  for (const StructureOp& op : program.ops) {
    if (!op.handler_first.valid()) continue;
    for (OpId id = op.handler_first; id <= op.handler_last; ++id.value) {
      const OpTimes& times = trace.ops[id.value];
      if (times.attempts == 1 && std::isfinite(times.issued_s)) continue;
      found.push_back(
          {Breach::kRuns, id,
           fmt::format("the handler of {} ran {} times at rank {}; expected once", describe(op),
                       std::isfinite(times.issued_s) ? times.attempts : 0, op.target.value)});
      break;
    }
    // The operation behind the poll is the handler itself.
    const OpId run(op.handler_first.value + 1);
    const double at_s = trace.ops[run.value].issued_s;
    const auto [before, first] = last_s.try_emplace({op.rank.value, op.target.value}, at_s);
    if (!first && at_s < before->second) {
      found.push_back(
          {Breach::kOrder, run,
           fmt::format("the handler of {} ran at rank {} before that of an earlier call",
                       describe(op), op.target.value)});
    }
    before->second = at_s;
  }
  return found;
}

std::vector<Finding> check_overlaps(const StructureProgram& program, const Trace& trace,
                                    std::size_t most, const ClockError& clock_error) {
  const auto error_s = [&](const StructureOp& op, double time_s) {
    return clock_error ? clock_error(op.rank, time_s) : 0.0;
  };
  std::map<std::uint32_t, std::vector<Span>> spans;
  std::map<std::uint32_t, bool> restricted;
  std::uint32_t ranks = 0;  // by the operations: the schedule itself may be elsewhere
  for (const StructureOp& op : program.ops) {
    ranks = std::max(ranks, op.rank.value + 1);
    const double begin_s = op.after.valid() ? trace.ops[op.after.value].done_s : 0;
    spans[op.structure()].push_back({begin_s, trace.ops[op.last.value].done_s, &op});
    restricted[op.structure()] |= op.level != Promise::kReadWrite && op.level != Promise::kChecksum;
  }
  std::vector<Finding> found;
  OpenSpans open(ranks);
  for (auto& [structure, of_one] : spans) {
    if (!restricted[structure]) continue;
    std::stable_sort(of_one.begin(), of_one.end(),
                     [](const Span& a, const Span& b) { return a.begin_s < b.begin_s; });
    open.end_all();
    for (const Span& span : of_one) {
      open.end_by(span.begin_s);
      if (!open.has_forbidden(*span.op)) {
        open.add(span);
        continue;
      }
      for (const Span& other : open.under_way(span.begin_s)) {
        if (found.size() >= most) return found;
        const bool same = other.op->rank == span.op->rank;
        // Within what the clocks of two ranks leave open, the one may have ended before the other.
        const double open_s =
            same ? 0 : error_s(*other.op, other.end_s) + error_s(*span.op, span.begin_s);
        if (other.end_s <= span.begin_s + open_s) continue;
        const bool forbids = !allows(span.op->level, is_write(other.op->access), same);
        if (!forbids && allows(other.op->level, is_write(span.op->access), same)) continue;
        found.push_back(
            {Breach::kOverlap, span.op->first,
             fmt::format("{} overlaps {}, which {} forbids", describe(*span.op),
                         describe(*other.op), name(forbids ? span.op->level : other.op->level))});
      }
      open.add(span);
    }
  }
  return found;
}

std::vector<Finding> check_contents(const StructureProgram& program, const Trace& trace,
                                    const FinalMemory& memory) {
  return program.table ? check_table(program, trace, memory) : check_queues(program, trace, memory);
}

std::vector<Finding> check_structure(const StructureProgram& program, const Trace& trace,
                                     const FinalMemory& memory, const ClockError& clock_error) {
  std::vector<Finding> found = check_contents(program, trace, memory);
  if (trace.ops.empty()) return found;
  for (auto& more :
       {check_handlers(program, trace), check_overlaps(program, trace, 10, clock_error)}) {
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace slackline::sched
