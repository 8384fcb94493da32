// What the processor pays for completions, which Platform::o_complete alone does not say: that is a
// time that passes, in which the lane is free. Seeing one takes the lane itself: LogGP's receive
// overhead.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/issue_policy.h"
#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// Whether completions cost a lane anything on this platform.
bool completions_cost(const Platform& platform);
/// "o_poll", "o_match", "o_signal" or "poll_for": one that costs something, for messages; empty if
/// none does.
std::string_view completion_figure(const Platform& platform);

/// Which operations make a completion that their rank's program has to see, and what that costs
/// the lane that they were posted on.
class Completions {
 public:
  /// Throws Unsupported, naming the channel, if completions cost anything and a channel gathers
  /// messages: which of them share a completion is not modelled.
  Completions(const sched::Schedule& schedule, const Platform& platform, const IssueOrder& order);

  /// Whether anything costs anything. If not, nothing else here may be called.
  bool any() const { return any_; }
  /// Whether seeing one takes the lane, by o_poll, o_match or an interrupt.
  bool are_seen() const { return look_s_ > 0 || match_s_ > 0 || programs_sleep(); }
  /// Whether a program that has nothing to do sleeps, which costs something.
  bool programs_sleep() const { return interrupt_s_ > 0; }
  /// After so long, …
  double poll_for_s() const { return poll_for_s_; }
  /// …and so much of the lane then wakes it.
  double interrupt_s() const { return interrupt_s_; }

  /// Whether the operation is done by a look, which waits for its lane even if it takes no time.
  /// May be called, as see_s(), if nothing costs anything.
  bool is_looked_at(sched::OpId op) const { return any_ && are_seen() && makes_one(op); }

  /// As signalled_operations() says.
  bool makes_one(sched::OpId op) const { return makes_[op.value]; }
  /// What an initiator's post takes more.
  double signal_s(sched::OpId op) const {
    return makes_one(op) && sched::is_initiator(schedule_.op(op).kind) ? signal_s_ : 0;
  }
  /// One look at the queue, which takes up to batch() completions out of it.
  double look_s() const { return look_s_; }
  std::uint32_t batch() const { return batch_; }
  /// Added for each completion in it.
  double match_s(sched::OpId op) const {
    return schedule_.op(op).kind == sched::OpKind::kRecv ? match_s_ : 0;
  }
  /// Of a look that takes this one alone; 0 if there is none to take.
  double see_s(sched::OpId op) const { return any_ && makes_one(op) ? look_s_ + match_s(op) : 0; }

 private:
  const sched::Schedule& schedule_;
  const double look_s_;
  const double match_s_;
  const double signal_s_;
  const double poll_for_s_;
  const double interrupt_s_;  // 0 if programs never sleep
  const std::uint32_t batch_;
  const bool any_;
  std::vector<bool> makes_;  // of every operation; empty if nothing costs anything
};

}  // namespace slackline::machine
