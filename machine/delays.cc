#include "machine/delays.h"

#include <algorithm>
#include <map>
#include <utility>

namespace slackline::machine {
namespace {

using sched::ChannelId;
using sched::OpId;
using sched::RankId;
using sched::Time;

// Picoseconds are summed as whole numbers, so that the order of a plan's entries does not show.
using Sums = std::vector<std::int64_t>;

struct StepSums {
  std::int64_t post = 0;
  std::int64_t lane = 0;
};

// Ends at the longest time there is.
void add(std::int64_t& sum, std::int64_t by) { sum += std::min(by, sched::kForever.count() - sum); }

void add(Sums& sums, const sched::Schedule& schedule, OpId op, std::int64_t by) {
  if (by == 0) return;
  if (sums.empty()) sums.resize(schedule.op_count(), 0);
  add(sums[op.value], by);
}

std::vector<double> in_seconds(const Sums& sums) {
  std::vector<double> result;
  result.reserve(sums.size());
  for (const std::int64_t sum : sums) result.push_back(sched::seconds(Time{sum}));
  return result;
}

std::vector<bool> credit_channels(const sched::Schedule& schedule) {
  std::vector<bool> result(schedule.channels().size(), false);
  for (const sched::Channel& channel : schedule.channels()) {
    if (channel.credit_on.valid()) result[channel.credit_on.value] = true;
  }
  return result;
}

}  // namespace

Delays::Delays(const DelayPlan& plan, const sched::Schedule& schedule) {
  if (plan.empty()) return;
  validate(plan, schedule);
  Sums post;
  Sums lane;
  for (const OpDelay& delay : plan.ops) {
    add(delay.whole_lane ? lane : post, schedule, delay.op, delay.by.count());
  }
  if (!plan.steps.empty()) {
    // One walk over a rank's operations, however many delays its steps have.
    std::map<RankId, std::map<std::uint32_t, StepSums>> by_rank;
    for (const StepDelay& delay : plan.steps) {
      StepSums& sums = by_rank[delay.rank][delay.step];
      add(delay.whole_lane ? sums.lane : sums.post, delay.by.count());
    }
    const std::vector<bool> is_credit = credit_channels(schedule);
    for (const auto& [rank, by_step] : by_rank) {
      for (OpId id = schedule.first_op(rank); id < schedule.end_op(rank); ++id.value) {
        const sched::Op& op = schedule.op(id);
        if (!sched::is_initiator(op.kind) || is_credit[op.channel.value]) continue;
        const auto found = by_step.find(op.step);
        if (found == by_step.end()) continue;
        add(post, schedule, id, found->second.post);
        add(lane, schedule, id, found->second.lane);
      }
    }
  }
  post_s_ = in_seconds(post);
  lane_s_ = in_seconds(lane);
  for (const PairRate& pair : plan.pairs) pairs_.emplace(pair_key(pair.src, pair.dst), pair.rate);
}

}  // namespace slackline::machine
