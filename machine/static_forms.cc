#include "machine/static_forms.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "machine/run/regions.h"
#include "sched/region_tree.h"

namespace slackline::machine {
namespace {

using sched::Operand;
using sched::OpId;
using sched::Region;
using sched::RegionKind;
using sched::RegionOutcome;
using sched::RegionTree;

// How often the operations of each region ran, and how often its rank came to it.
class Counts {
 public:
  Counts(const sched::Schedule& schedule, const RegionTree& tree, const sched::Trace& trace)
      : schedule_(schedule), tree_(tree), trace_(trace) {}

  // Nothing if the trace does not tell.
  std::optional<std::uint64_t> attempts(std::uint32_t region) const {
    for (const std::uint32_t node : tree_.children(region)) {
      if (!tree_.is_region(node)) return trace_.ops[node].attempts;
    }
    for (const std::uint32_t node : tree_.children(region)) {
      const Region& inner = schedule_.regions()[tree_.region_of(node)];
      if (inner.kind != RegionKind::kRepeat) continue;
      if (const auto times = attempts(tree_.region_of(node))) return *times / inner.max_attempts;
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> entries(std::uint32_t region) const {
    const std::uint32_t around = tree_.around(tree_.node_of(region));
    return around == RegionTree::kNone ? 1 : attempts(around);
  }

 private:
  const sched::Schedule& schedule_;
  const RegionTree& tree_;
  const sched::Trace& trace_;
};

// What an actual region decided each time, if it is always the same: how many attempts, 0 for an
// alt that is not taken.
std::uint64_t attempts_each_time(const RegionTree& tree, const Counts& counts, RegionKind kind,
                                 std::uint32_t region) {
  const auto attempts = counts.attempts(region);
  const auto entries = counts.entries(region);
  if (entries && *entries == 0) return 1;  // never asked
  if (kind == RegionKind::kRetry && attempts && *attempts == 0) {
    throw InputError(fmt::format("the trace has no attempt of {}; expected at least 1 each time",
                                 tree.describe(region)));
  }
  if (attempts && entries) {
    if (*entries == 1 || *attempts == 0 || *attempts == *entries) return *attempts / *entries;
  }
  throw Unsupported(fmt::format("realise cannot tell from the trace what {} decided each time",
                                tree.describe(region)));
}

}  // namespace

sched::Unrolled unroll(const sched::Schedule& schedule, std::uint64_t seed,
                       const sched::MemoryLimit& memory) {
  const RegionTree tree(schedule);
  RegionDraws draws(schedule, seed);
  const auto decide = [&](std::uint32_t region) {
    if (schedule.regions()[region].outcome == RegionOutcome::kActual) {
      throw Unsupported(
          fmt::format("unroll takes sampled outcomes only, not that of {}", tree.describe(region)));
    }
    return draws.next(region);
  };
  return sched::unroll(schedule, decide, {}, memory);
}

sched::Unrolled realise(const sched::Schedule& schedule, const sched::Trace& trace) {
  if (trace.schedule != schedule.digest() || trace.ops.size() != schedule.op_count()) {
    throw InputError(fmt::format("the trace is of schedule {}, not of {}",
                                 to_string(trace.schedule), to_string(schedule.digest())));
  }
  if (!std::isfinite(trace.makespan_s())) throw InputError("the trace is not complete");
  const RegionTree tree(schedule);
  const Counts counts(schedule, tree, trace);
  RegionDraws draws(schedule, trace.seed);
  std::vector<std::uint64_t> attempts(schedule.regions().size());
  for (std::uint32_t r = 0; r < attempts.size(); ++r) {
    const Region& region = schedule.regions()[r];
    if (region.outcome == RegionOutcome::kSampled || region.kind == RegionKind::kRepeat) continue;
    attempts[r] = attempts_each_time(tree, counts, region.kind, r);
  }
  std::vector<std::uint64_t> asked(attempts.size(), 0);
  return sched::unroll(
      schedule,
      [&](std::uint32_t region) {
        if (schedule.regions()[region].outcome == RegionOutcome::kSampled)
          return draws.next(region);
        if (schedule.regions()[region].kind == RegionKind::kAlt) return attempts[region] != 0;
        return ++asked[region] % attempts[region] == 0;
      },
      [&](OpId, const Operand& offset) {
        if (!offset.is_dynamic()) return offset;
        const std::uint64_t times = trace.ops[offset.op.value].attempts;
        const bool result = offset.from == Operand::From::kResult;
        if (times != 1 || (result && trace.results.empty())) return offset;
        return Operand{
            Operand::From::kLiteral, {}, offset.of(result ? trace.results[offset.op.value] : 0)};
      });
}

sched::Unrolled best_case(const sched::Schedule& schedule) {
  return sched::unroll(schedule, [&](std::uint32_t region) {
    const Region& r = schedule.regions()[region];
    if (r.kind == RegionKind::kRetry) return true;
    return r.outcome == RegionOutcome::kSampled && r.p.value >= 1'000'000;
  });
}

}  // namespace slackline::machine
