#include "machine/run/regions.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "machine/draw.h"
#include "machine/run/operands.h"

namespace slackline::machine {
namespace {

using sched::OpId;
using sched::Region;
using sched::RegionKind;
using sched::RegionOutcome;

constexpr std::uint64_t kFirstSite = std::uint64_t{1} << 32;  // below are those of noises
constexpr std::uint64_t kCertain = 1'000'000;
// A retry that draws and cannot succeed is not tried for hours to say so.
constexpr std::uint32_t kHopelessAttempts = 1000;

}  // namespace

RegionDraws::RegionDraws(const sched::Schedule& schedule, std::uint64_t seed) : seed_(seed) {
  std::map<sched::RankId, std::uint64_t> regions;
  for (const Region& r : schedule.regions()) {
    const sched::RankId rank = schedule.op(r.entry).rank;
    sites_.push_back({rank.value, kFirstSite + regions[rank]++, 0, r.p.value});
  }
}

bool RegionDraws::next(std::uint32_t region) {
  Site& site = sites_[region];
  return draw_below({seed_, site.rank, site.site, site.draws++}, kCertain) < site.chance_ppm;
}

void RegionDraws::reset() {
  for (Site& site : sites_) site.draws = 0;
}

RegionRun::RegionRun(const sched::Schedule& schedule, const sched::RegionTree& tree,
                     std::uint64_t seed)
    : schedule_(schedule), tree_(tree), states_(schedule.regions().size()), draws_(schedule, seed) {
  if (!tree.empty()) deciding_ = deciding_swaps(schedule, tree);
}

void RegionRun::reset() {
  states_.assign(states_.size(), {});
  draws_.reset();
}

void RegionRun::release(std::uint32_t region, OpId cause) {
  states_[region].cause = cause;
  states_[region].attempts = 0;
}

void RegionRun::begin_attempt(std::uint32_t region) {
  State& state = states_[region];
  ++state.attempts;
  state.failed = false;
  state.left = static_cast<std::uint32_t>(tree_.children(region).size());
}

void RegionRun::fail(OpId op) {
  std::uint32_t region = tree_.around(op);
  while (region != sched::RegionTree::kNone &&
         schedule_.regions()[region].kind != RegionKind::kRetry) {
    region = tree_.around(tree_.node_of(region));
  }
  if (region != sched::RegionTree::kNone) states_[region].failed = true;
}

bool RegionRun::is_over(std::uint32_t region) {
  const Region& r = schedule_.regions()[region];
  const State& state = states_[region];
  if (r.kind == RegionKind::kAlt) return true;
  if (r.kind == RegionKind::kRepeat) return state.attempts == r.max_attempts;
  if (r.outcome == RegionOutcome::kActual ? !state.failed : draws_.next(region)) return true;
  if (state.attempts == r.max_attempts) {
    throw InputError(fmt::format("{} has failed all of its {} attempts", tree_.describe(region),
                                 r.max_attempts));
  }
  if (r.outcome == RegionOutcome::kSampled && r.p.value == 0 &&
      state.attempts == kHopelessAttempts) {
    throw InputError(
        fmt::format("{} has failed {} of its {} attempts; its chance of success is 0, "
                    "expected more",
                    tree_.describe(region), state.attempts, r.max_attempts));
  }
  return false;
}

std::vector<std::vector<OpId>> deciding_swaps(const sched::Schedule& schedule,
                                              const sched::RegionTree& tree) {
  std::vector<std::vector<OpId>> deciding(schedule.regions().size());
  if (tree.empty()) return deciding;
  for (const sched::Edge& edge : schedule.edges()) {
    if (!tree.range().holds(edge.succ)) continue;
    if (!is_tested(schedule, schedule.op(edge.pred))) continue;
    if (edge.on != sched::On::kDone) continue;
    for (std::uint32_t region = tree.around(edge.succ); region != sched::RegionTree::kNone;
         region = tree.around(tree.node_of(region))) {
      const Region& r = schedule.regions()[region];
      const std::uint32_t place = edge.pred.value - r.entry.value;
      if (edge.pred >= r.entry && place < r.count) break;  // inside, and inside all around it
      deciding[region].push_back(edge.pred);
    }
  }
  return deciding;
}

}  // namespace slackline::machine
