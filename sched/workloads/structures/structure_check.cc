#include "sched/workloads/structures/structure_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

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

// Whether `level` lets `other`, of another rank or its own, run beside.
bool allows(Promise level, StructureAccess other, bool same_rank) {
  switch (level) {
    case Promise::kWrite:
      return is_write(other);
    case Promise::kRead:
      return !is_write(other);
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
  for (const StructureOp& op : program.ops) {
    const double begin_s = op.after.valid() ? trace.ops[op.after.value].done_s : 0;
    spans[op.structure].push_back({begin_s, trace.ops[op.last.value].done_s, &op});
    restricted[op.structure] |= op.level != Promise::kReadWrite && op.level != Promise::kChecksum;
  }
  std::vector<Finding> found;
  for (auto& [structure, of_one] : spans) {
    if (!restricted[structure]) continue;
    std::stable_sort(of_one.begin(), of_one.end(),
                     [](const Span& a, const Span& b) { return a.begin_s < b.begin_s; });
    std::vector<Span> open;
    for (const Span& span : of_one) {
      std::erase_if(open, [&](const Span& o) { return !(o.end_s > span.begin_s + kInstant_s); });
      for (const Span& other : open) {
        if (found.size() >= most) return found;
        const bool same = other.op->rank == span.op->rank;
        // Within what the clocks of two ranks leave open, the one may have ended before the other.
        const double open_s =
            same ? 0 : error_s(*other.op, other.end_s) + error_s(*span.op, span.begin_s);
        if (other.end_s <= span.begin_s + open_s) continue;
        const bool forbids = !allows(span.op->level, other.op->access, same);
        if (!forbids && allows(other.op->level, span.op->access, same)) continue;
        found.push_back(
            {Breach::kOverlap, span.op->first,
             fmt::format("{} overlaps {}, which {} forbids", describe(*span.op),
                         describe(*other.op), name(forbids ? span.op->level : other.op->level))});
      }
      open.push_back(span);
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
