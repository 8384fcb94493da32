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
/// "o_poll", "o_match", "o_block", "o_callback", "o_signal", "poll_for" or "completions=service":
/// one that costs something, for messages; empty if none does.
std::string_view completion_figure(const Platform& platform);
/// Throws Unsupported, naming the consumer, where a service thread sees completions.
void require_program_sees(const Platform& platform, std::string_view consumer);

/// Which operations make a completion that their rank's program has to see, and what that costs
/// the lane that they were posted on.
class Completions {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  /// Throws Unsupported, naming the operation, with o_callback if receives come again, in regions,
  /// and with o_block or o_callback if only a run tells which put's data a receive is of.
  Completions(const sched::Schedule& schedule, const Platform& platform, const IssueOrder& order);

  /// Whether anything costs anything. If not, nothing else here may be called.
  bool any() const { return any_; }
  /// Whether seeing one takes the lane: by a look, by what is done in it, or by an interrupt.
  bool are_seen() const {
    return look_s_ > 0 || match_s_ > 0 || block_s_ > 0 || callback_s_ > 0 || programs_sleep() ||
           is_in_service();
  }
  /// Whether a program that has nothing to do sleeps, which costs something.
  bool programs_sleep() const { return interrupt_s_ > 0; }
  /// After so long, …
  double poll_for_s() const { return poll_for_s_; }
  /// …and so much of the lane then wakes it.
  double interrupt_s() const { return interrupt_s_; }

  /// Whether a thread of its own sees them, which shares the lane's core with the program: then
  /// o_complete is its work, …
  bool is_in_service() const { return handle_s_ > 0 || switch_s_ > 0; }
  /// …so much of the lane for each completion in a look, one for a bundle's, …
  double handle_s() const { return handle_s_; }
  /// …and so much of the lane passes whenever the other one of the two gets it.
  double switch_s() const { return switch_s_; }

  /// Whether the operation is done by a look, which waits for its lane even if it takes no time.
  /// May be called, as see_s(), if nothing costs anything.
  bool is_looked_at(sched::OpId op) const { return any_ && are_seen() && makes_one(op); }

  /// As signalled_operations() says. Those of one bundle have one together.
  bool makes_one(sched::OpId op) const { return makes_[op.value]; }
  /// What an initiator's post takes more.
  double signal_s(sched::OpId op) const {
    return makes_one(op) && sched::is_initiator(schedule_.op(op).kind) ? signal_s_ : 0;
  }
  /// One look at the queue, which takes up to batch() completions out of it.
  double look_s() const { return look_s_; }
  std::uint32_t batch() const { return batch_; }
  /// Added for each completion in it: o_match for a receive, and o_block if that has data.
  double match_s(sched::OpId op) const {
    if (schedule_.op(op).kind != sched::OpKind::kRecv) return 0;
    return brings_data(op) ? match_s_ + block_s_ : match_s_;
  }
  /// The second of the two.
  double block_s(sched::OpId op) const { return brings_data(op) ? block_s_ : 0; }
  /// Added for the completion of the last receive into a buffer, where a message is there: RDMC's
  /// callback. If it is 0, the two below may not be asked.
  double callback_s() const { return callback_s_; }
  /// The buffer that a receive of data writes to, also by the put that it is of; kNone of others.
  std::uint32_t message_of(sched::OpId op) const { return message_of_[op.value]; }
  /// How many receives write to each buffer.
  const std::vector<std::uint32_t>& receives_of_messages() const { return receives_; }
  /// Of a look that takes this one alone, without callback and what a service thread adds; 0 if
  /// there is none to take.
  double see_s(sched::OpId op) const { return any_ && makes_one(op) ? look_s_ + match_s(op) : 0; }

 private:
  bool brings_data(sched::OpId op) const {
    return !message_of_.empty() && message_of_[op.value] != kNone;
  }
  void find_messages();

  const sched::Schedule& schedule_;
  const double look_s_;
  const double match_s_;
  const double block_s_;
  const double callback_s_;
  const double signal_s_;
  const double poll_for_s_;
  const double interrupt_s_;  // 0 if programs never sleep
  const double handle_s_;     // 0 without a service thread, …
  const double switch_s_;     // …and so is this
  const std::uint32_t batch_;
  const bool any_;
  std::vector<bool> makes_;                // of every operation; empty if nothing costs anything
  std::vector<std::uint32_t> message_of_;  // of every operation; empty without block and callback
  std::vector<std::uint32_t> receives_;    // of every buffer; likewise
};

}  // namespace slackline::machine
