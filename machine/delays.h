// What a delay plan does to the operations of one schedule on one platform: what an engine asks,
// per operation. Link rates and failures are not in it: they happen to the network.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// Every question takes constant time, and next to none when the plan is empty. Times are in
/// seconds and ≥ 0; several delays of one operation add up, each in whole picoseconds, and end at
/// the longest time there is.
///
/// A straggler's operation holds its lane (slowdown − 1) times lane_time_s() and `by` longer. The
/// n-th operation of a rank that holds a lane takes the n-th draw of each noise that strikes the
/// rank, so that no draw depends on another rank, on another noise, or on the platform.
class Delays {
 public:
  /// Nothing is delayed.
  Delays() = default;
  /// Throws InputError as validate() does. Keeps no reference to any.
  Delays(const DelayPlan& plan, const sched::Schedule& schedule, const Platform& platform);

  bool empty() const { return post_s_.empty() && lane_s_.empty() && pairs_.empty(); }

  /// How much later the operation alone becomes ready.
  double post_delay_s(sched::OpId op) const { return post_s_.empty() ? 0.0 : post_s_[op.value]; }
  /// How long the operation's lane is held before it.
  double lane_delay_s(sched::OpId op) const { return lane_s_.empty() ? 0.0 : lane_s_[op.value]; }
  /// The rate of messages from src to dst; 0 is no limit.
  sched::Rate pair_rate(sched::RankId src, sched::RankId dst) const {
    if (pairs_.empty()) return {};
    const auto pair = pairs_.find(pair_key(src, dst));
    return pair == pairs_.end() ? sched::Rate{} : pair->second;
  }

 private:
  static std::uint64_t pair_key(sched::RankId src, sched::RankId dst) {
    return std::uint64_t{src.value} << 32 | dst.value;
  }

  std::vector<double> post_s_;  // per operation; empty if no operation is delayed so
  std::vector<double> lane_s_;
  std::unordered_map<std::uint64_t, sched::Rate> pairs_;  // only ever looked up
};

}  // namespace slackline::machine
