// What the lanes of a run spent their time on: the processor's share of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sched/schedule.h"

namespace slackline::machine {

/// One lane's time, in seconds. What a run adds up here it adds as it goes. Plain data, so that it
/// can lie in memory that processes share.
class LaneUse {
 public:
  double post_s = 0;       // posts, with their signals, and copies into bundles
  double work_s = 0;       // calculations, copies and reductions
  double look_s = 0;       // o_poll and o_match, and a service thread's o_complete
  double block_s = 0;      // o_block and o_callback
  double interrupt_s = 0;  // that woke the program, and changes between the threads of its core
  double delay_s = 0;      // held by a delay plan
  double polling_s = 0;    // nothing to do, and looking for something
  double asleep_s = 0;     // nothing to do, until an interrupt

  /// The time in which the lane's core was busy.
  double busy_s() const {
    return post_s + work_s + look_s + block_s + interrupt_s + delay_s + polling_s;
  }

  /// The lane is held from then on, for so long; `poll_for_s` as Platform::poll_for, infinite where
  /// the program never sleeps.
  void hold(double from_s, double hold_s, double poll_for_s) {
    idle_until(from_s, poll_for_s);
    free_s_ = std::max(free_s_, from_s + hold_s);
    told_s_ = free_s_;
  }
  /// A poll of the lane's begins to look at memory, or ends: meanwhile it does not sleep.
  void begin_watching(double now_s, double poll_for_s) {
    idle_until(now_s, poll_for_s);
    ++polls_;
  }
  void end_watching(double now_s, double poll_for_s) {
    idle_until(now_s, poll_for_s);
    --polls_;
  }
  /// The lane has had nothing to do since it was free, until then.
  void idle_until(double now_s, double poll_for_s) {
    if (!(now_s > told_s_)) return;
    const double awake_until_s = polls_ != 0 ? now_s : std::min(now_s, free_s_ + poll_for_s);
    const double awake_s = std::max(0.0, awake_until_s - told_s_);
    polling_s += awake_s;
    asleep_s += now_s - told_s_ - awake_s;
    told_s_ = now_s;
  }

  LaneUse& operator+=(const LaneUse& other) {
    post_s += other.post_s;
    work_s += other.work_s;
    look_s += other.look_s;
    block_s += other.block_s;
    interrupt_s += other.interrupt_s;
    delay_s += other.delay_s;
    polling_s += other.polling_s;
    asleep_s += other.asleep_s;
    return *this;
  }

 private:
  double free_s_ = 0;
  double told_s_ = 0;
  std::uint32_t polls_ = 0;
};

}  // namespace slackline::machine
