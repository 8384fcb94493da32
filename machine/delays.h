// What a delay plan does to the operations of one schedule on one platform: what an engine asks,
// per operation. Rates of links and pairs, and failures, are not in it: they happen to the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

  /// Whether it delays no operation.
  bool empty() const { return post_.empty() && lane_.empty(); }

  /// One more delay, as if the plan had had it too. Throws InputError if all delays of the
  /// operation together are too long. Not for what was made without a plan and a schedule.
  void add(const OpDelay& delay);
  /// Takes back what add() was told.
  void take_back(const OpDelay& delay);

  /// How much later the operation alone becomes ready.
  double post_delay_s(sched::OpId op) const { return delay_s(post_, op); }
  /// How long the operation's lane is held before it.
  double lane_delay_s(sched::OpId op) const { return delay_s(lane_, op); }

 private:
  static double delay_s(const std::vector<sched::Time>& delays, sched::OpId op) {
    return delays.empty() ? 0.0 : sched::seconds(delays[op.value]);
  }

  std::size_t ops_ = 0;            // of the schedule
  std::vector<sched::Time> post_;  // per operation; empty if no operation is delayed so
  std::vector<sched::Time> lane_;
};

/// An entry of a delay plan that changes nothing, and why.
struct IdleEntry {
  std::string entry;  // "straggler 3"
  std::string why;    // "nothing that the rank posts, copies or calculates takes longer"

  friend bool operator==(const IdleEntry&, const IdleEntry&) = default;
};

/// Of a valid plan's delays, stragglers and noise those that delay no operation. They are no
/// errors, since one plan may serve several schedules and platforms.
std::vector<IdleEntry> idle_delays(const DelayPlan& plan, const sched::Schedule& schedule,
                                   const Platform& platform);

}  // namespace slackline::machine
