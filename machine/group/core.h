// The part of a group at one member that is the same in a simulation and on a machine: which
// messages are complete here, how all agree to close, and what a member does when another is lost:
// it tells the survivors, settles with them which messages all of them have, and closes once they
// all know. It knows neither transport nor network, and no bytes.
//
// Whoever has the core is its GroupHost: hw/group/member.h on a machine, analysis/group/ in a
// simulation. It tells the core what happens, and the core tells it what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/group/settlement.h"
#include "machine/group/words.h"

namespace slackline::machine {

/// What the core asks of whoever has it. Called from within the core's functions, and may throw,
/// which ends the function at that point.
class GroupHost {
 public:
  virtual ~GroupHost() = default;
  /// In seconds, from any moment on. Never falls.
  virtual double now_s() const = 0;
  /// Tells a member something; it need not arrive. What one member is told comes in order.
  virtual void tell(std::uint32_t member, const GroupSaying& saying) = 0;
  /// No message is under way here; at the root, none waits to be sent either.
  virtual bool is_idle() const = 0;
  /// Atomic delivery: all others have been written how many messages stand here.
  virtual bool is_written_everywhere() const = 0;
  /// The next of the messages that stand here is complete.
  virtual void complete() = 0;
  /// The group has failed: from here on nothing is posted in it.
  virtual void stop() = 0;
  /// The application is told whose fault it is. At most once.
  virtual void report_failure(std::uint32_t member) = 0;
  /// It is over: GroupCore::outcome() says how. Nobody writes into its memory any more.
  virtual void end() = 0;
};

/// How a group ended at a member.
struct GroupOutcome {
  /// Every message came to every member.
  bool delivered = false;
  /// Messages that were completed here.
  std::uint64_t messages = 0;
  /// Not delivered: whose fault that is, by its place among the members, and how it showed.
  std::optional<std::uint32_t> member;
  std::string why;
};

struct GroupCoreOptions {
  std::vector<std::uint32_t> ranks;  // by member; what texts name
  std::uint32_t self = 0;            // this member's place
  bool atomic_delivery = false;
  double timeout_s = 30;  // how long a member that lives and does nothing is waited for
};

class GroupCore {
 public:
  /// The host must outlive this.
  GroupCore(GroupHost& host, GroupCoreOptions options);

  enum class State : std::uint8_t { kOpen, kFailing, kEnded };
  State state() const { return state_; }
  bool is_open() const { return state_ == State::kOpen; }
  bool is_atomic() const { return options_.atomic_delivery; }
  /// Whether all that is left waits for words of others, or for their rows.
  bool waits_for_others() const {
    return state_ == State::kFailing || wants_close_ ||
           (options_.atomic_delivery && completed_ != finished_);
  }
  /// It has told all others that it has all messages.
  bool has_told_done() const { return told_done_; }
  std::uint64_t finished() const { return finished_; }
  std::uint64_t completed() const { return completed_; }
  /// Whose fault it is that the group has failed, if it has.
  std::optional<std::uint32_t> failed() const { return failed_; }
  /// How it ended, once it has.
  const std::optional<GroupOutcome>& outcome() const { return outcome_; }
  /// The settlement, once the group has failed here.
  const Settlement* settlement() const { return settlement_ ? &*settlement_ : nullptr; }

  // What happens.

  /// Something has come of a peer: it is not silent.
  void notice_sign();
  /// One more message stands here whole. Plain: it is complete.
  void finish();
  /// Atomic: every member has so many messages. Answers whether any message is complete by that.
  bool deliver(std::uint64_t up_to);
  /// The application wants to close.
  void close();
  void hear(std::uint32_t from, const GroupSaying& saying);
  /// A member is lost. `reachable`: it lives all the same, and has something to say.
  void lose(std::uint32_t member, const std::string& how, bool reachable);
  /// A member's process has no groups any more. What it had told before was heard; it answers
  /// nothing.
  void see_left(std::uint32_t member);
  /// This member leaves the group, which fails.
  void leave(const std::string& why);
  /// …and nobody can be heard or reached any more.
  void cut_off(const std::string& why);

  /// Goes on towards the end: after anything happened, and now and then. Answers whether anything
  /// came of it.
  bool progress();
  /// While nothing happens: when progress() next has something to do, as now_s() counts.
  double patience_ends_s() const;

 private:
  enum class Sign : std::uint8_t { kNone, kLives, kCloses };

  bool is_root() const { return options_.self == 0; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(options_.ranks.size()); }
  bool all_are_done() const;
  void tell_all(const GroupSaying& saying);
  bool progress_close();
  // `out`: whom that leaves out of the group, if it is another than whose fault it is.
  void fail(std::uint32_t member, const std::string& why,
            std::optional<std::uint32_t> out = std::nullopt);
  void leave_out(std::uint32_t member);
  void tell_settlement();
  bool progress_failing();
  bool is_known_to_all() const;
  void report_failure();
  void end(bool delivered);
  void give_up_on_silent();

  GroupHost& host_;
  const GroupCoreOptions options_;
  State state_ = State::kOpen;
  std::uint64_t finished_ = 0;   // messages that stand here
  std::uint64_t completed_ = 0;  // …and are complete
  double active_s_;              // when something last happened

  bool asked_ = false;       // for a sign, since then
  std::vector<Sign> signs_;  // by member
  bool wants_close_ = false;
  bool told_close_ = false;  // root
  bool told_done_ = false;
  std::optional<std::uint64_t> total_;  // messages of the group, once the root has told
  std::vector<bool> done_;              // by member

  std::optional<Settlement> settlement_;
  std::vector<bool> reachable_;  // by member
  std::vector<bool> left_;       // by member
  std::vector<bool> knows_;      // by member: that the group has failed
  std::optional<std::uint32_t> failed_;
  std::string why_;
  bool reported_ = false;
  std::optional<GroupOutcome> outcome_;
};

}  // namespace slackline::machine
