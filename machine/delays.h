// What a delay plan does to the operations of one schedule on one platform: what an engine asks,
// per operation. Link rates and failures are not in it: they happen to the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::machine {

class Setting;

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
  explicit Delays(const Setting& setting);

  bool empty() const { return post_.empty() && lane_.empty() && pairs_.empty(); }

  /// One more delay, as if the plan had had it too. Throws InputError if all delays of the
  /// operation together are too long. Not for what was made without a plan and a schedule.
  void add(const OpDelay& delay);
  /// Takes back what add() was told.
  void take_back(const OpDelay& delay);

  /// How much later the operation alone becomes ready.
  double post_delay_s(sched::OpId op) const { return delay_s(post_, op); }
  /// How long the operation's lane is held before it.
  double lane_delay_s(sched::OpId op) const { return delay_s(lane_, op); }
  /// The rate of messages from src to dst; 0 is no limit.
  sched::Rate pair_rate(sched::RankId src, sched::RankId dst) const {
    if (pairs_.empty()) return {};
    const auto pair = pairs_.find(pair_key(src, dst));
    return pair == pairs_.end() ? sched::Rate{} : pair->second;
  }

 private:
  static double delay_s(const std::vector<sched::Time>& delays, sched::OpId op) {
    return delays.empty() ? 0.0 : sched::seconds(delays[op.value]);
  }
  static std::uint64_t pair_key(sched::RankId src, sched::RankId dst) {
    return std::uint64_t{src.value} << 32 | dst.value;
  }

  std::size_t ops_ = 0;            // of the schedule
  std::vector<sched::Time> post_;  // per operation; empty if no operation is delayed so
  std::vector<sched::Time> lane_;
  std::unordered_map<std::uint64_t, sched::Rate> pairs_;  // only ever looked up
};

}  // namespace slackline::machine
