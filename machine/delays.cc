#include "machine/delays.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "machine/draw.h"
#include "machine/lane.h"
#include "machine/setting.h"
#include "machine/straggling.h"

namespace slackline::machine {
namespace {

using sched::OpId;
using sched::RankId;
using sched::Time;

[[noreturn]] void too_long(const std::string& what) {
  throw InputError(
      fmt::format("delay plan: {}: delays of 106 days or more in all; expected less", what));
}

// Picoseconds are summed as whole numbers, so that the order of a plan's entries does not show.
// False if there is no such time.
bool add_up(Time& sum, Time by) {
  if (by >= sched::kForever - sum) return false;
  sum += by;
  return true;
}

struct Sums {
  Time post{0};
  Time lane{0};
  bool add(bool whole_lane, Time by) { return add_up(whole_lane ? lane : post, by); }
};

// Of every operation; empty as long as none is delayed so.
struct OpSums {
  explicit OpSums(const sched::Schedule& of, bool keep = true) : schedule(of), kept(keep) {}
  const sched::Schedule& schedule;
  const bool kept;      // false: only whether an operation is delayed
  bool struck = false;  // one is
  std::vector<Time> post;
  std::vector<Time> lane;

  bool is_answered() const { return struck && !kept; }
  void add(OpId op, bool whole_lane, Time by) {
    if (by.count() == 0) return;
    struck = true;
    if (!kept) return;
    std::vector<Time>& sums = whole_lane ? lane : post;
    if (sums.empty()) sums.resize(schedule.op_count(), Time{0});
    if (!add_up(sums[op.value], by)) too_long(sched::describe(schedule, op));
  }
};

// What a rank initiates, which a delay of a step strikes.
template <class Visit>
void each_of_a_step(const sched::Schedule& schedule, const std::vector<bool>& is_credit,
                    RankId rank, const Visit& visit) {
  for (OpId id = schedule.first_op(rank); id < schedule.end_op(rank); ++id.value) {
    const sched::Op& op = schedule.op(id);
    if (sched::is_initiator(op.kind) && !is_credit[op.channel.value]) visit(id, op.step);
  }
}

void add_steps(const DelayPlan& plan, OpSums& sums) {
  if (plan.steps.empty()) return;
  const sched::Schedule& schedule = sums.schedule;
  // One walk over a rank's operations, however many delays its steps have.
  std::map<RankId, std::map<std::uint32_t, Sums>> by_rank;
  for (const StepDelay& delay : plan.steps) {
    if (!by_rank[delay.rank][delay.step].add(delay.whole_lane, delay.by)) {
      too_long(fmt::format("rank {}, step {}", delay.rank.value, delay.step));
    }
  }
  const std::vector<bool> is_credit = schedule.control_channels();
  for (const auto& of_rank : by_rank) {
    each_of_a_step(schedule, is_credit, of_rank.first, [&](OpId id, std::uint32_t step) {
      const auto found = of_rank.second.find(step);
      if (found == of_rank.second.end()) return;
      sums.add(id, false, found->second.post);
      sums.add(id, true, found->second.lane);
    });
  }
}

void add_straggler(const Straggler& straggler, const Platform& platform, OpSums& sums) {
  const sched::Schedule& schedule = sums.schedule;
  const RankId rank = straggler.rank;
  for (OpId id = schedule.first_op(rank); id < schedule.end_op(rank); ++id.value) {
    const sched::Op& op = schedule.op(id);
    if (!holds_lane(op.kind)) continue;
    if (sums.is_answered()) return;
    sums.add(id, true, slower(straggler, lane_time_s(schedule, platform, op)));
    sums.add(id, true, straggler.by);
  }
}

// A noise draws at two sites of its own: how long, and whether at all.
void add_noise(const Noise& noise, std::uint64_t place, std::uint64_t seed, RankId rank,
               OpSums& sums) {
  const sched::Schedule& schedule = sums.schedule;
  constexpr std::uint32_t kAlways = 1'000'000;
  std::uint64_t index = 0;
  for (OpId id = schedule.first_op(rank); id < schedule.end_op(rank); ++id.value) {
    if (!holds_lane(schedule.op(id).kind)) continue;
    if (sums.is_answered()) return;
    const bool struck =
        noise.chance.value >= kAlways ||
        draw_below({seed, rank.value, 2 * place + 1, index}, kAlways) < noise.chance.value;
    if (struck) sums.add(id, noise.whole_lane, noise.of.draw(seed, rank.value, 2 * place, index));
    ++index;
  }
}

void add_noise(const DelayPlan& plan, std::size_t place, OpSums& sums) {
  const Noise& noise = plan.noise[place];
  if (noise.ranks.empty()) {
    for (std::uint32_t r = 0; r < sums.schedule.rank_count(); ++r) {
      add_noise(noise, place, plan.seed, RankId(r), sums);
    }
  }
  for (const RankId rank : noise.ranks) add_noise(noise, place, plan.seed, rank, sums);
}

constexpr const char* kNoTime = "it takes no time";

// Steps at which a rank initiates nothing, by one walk over a rank's operations.
void say_idle_steps(const DelayPlan& plan, const sched::Schedule& schedule,
                    std::vector<IdleEntry>& said) {
  if (plan.steps.empty()) return;
  const std::vector<bool> is_credit = schedule.control_channels();
  std::map<RankId, std::set<std::uint32_t>> steps_of_rank;
  for (const StepDelay& delay : plan.steps) {
    const bool is_new = !steps_of_rank.contains(delay.rank);
    std::set<std::uint32_t>& steps = steps_of_rank[delay.rank];
    if (is_new) {
      each_of_a_step(schedule, is_credit, delay.rank,
                     [&](OpId, std::uint32_t step) { steps.insert(step); });
    }
    const bool begins = steps.contains(delay.step);
    if (begins && delay.by.count() != 0) continue;
    said.push_back({fmt::format("delay of rank {}, step {}", delay.rank.value, delay.step),
                    begins ? kNoTime : "the rank initiates nothing at that step but credits"});
  }
}

}  // namespace

Delays::Delays(const DelayPlan& plan, const sched::Schedule& schedule, const Platform& platform)
    : ops_(schedule.op_count()) {
  if (plan.empty()) return;
  validate(plan, schedule);
  OpSums sums(schedule);
  for (const OpDelay& delay : plan.ops) sums.add(delay.op, delay.whole_lane, delay.by);
  add_steps(plan, sums);
  for (const Straggler& straggler : plan.stragglers) add_straggler(straggler, platform, sums);
  for (std::size_t place = 0; place < plan.noise.size(); ++place) add_noise(plan, place, sums);
  post_ = std::move(sums.post);
  lane_ = std::move(sums.lane);
}

Delays::Delays(const Setting& setting)
    : Delays(setting.delays, setting.schedule, setting.platform) {}

void Delays::add(const OpDelay& delay) {
  std::vector<Time>& sums = delay.whole_lane ? lane_ : post_;
  if (sums.empty()) sums.resize(ops_, Time{0});
  if (!add_up(sums[delay.op.value], delay.by)) {
    too_long(fmt::format("op {}", delay.op.value));
  }
}

void Delays::take_back(const OpDelay& delay) {
  (delay.whole_lane ? lane_ : post_)[delay.op.value] -= delay.by;
}

std::vector<IdleEntry> idle_delays(const DelayPlan& plan, const sched::Schedule& schedule,
                                   const Platform& platform) {
  std::vector<IdleEntry> said;
  for (const OpDelay& delay : plan.ops) {
    if (delay.by.count() != 0) continue;
    said.push_back({"delay of " + describe(schedule, delay.op), kNoTime});
  }
  say_idle_steps(plan, schedule, said);
  for (const Straggler& straggler : plan.stragglers) {
    if (schedule.has_bundles()) break;  // their copies and posts are a run's, not operations'
    OpSums asked(schedule, false);
    add_straggler(straggler, platform, asked);
    if (asked.struck) continue;
    said.push_back({fmt::format("straggler {}", straggler.rank.value),
                    "nothing that the rank posts, copies or calculates takes longer"});
  }
  for (std::size_t place = 0; place < plan.noise.size(); ++place) {
    OpSums asked(schedule, false);
    add_noise(plan, place, asked);
    if (!asked.struck) said.push_back({fmt::format("noise {}", place), "it strikes no operation"});
  }
  return said;
}

}  // namespace slackline::machine
