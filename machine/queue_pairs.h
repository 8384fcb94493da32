// Which queue pair each post goes to, and the lock that threads take for it: docs/architecture.md,
// "Machines of several ranks".
#pragma once

#include <cstdint>
#include <vector>

#include "machine/paths.h"
#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// The queue pairs of a schedule's channels. Each threads_per_qp ranks have theirs together: the
/// k-th channel from one of them to one of another such group is on one queue pair with the k-th
/// channel of every other two, if both ends are at the same NICs.
class QueuePairs {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  /// Keeps references to none of them but the schedule.
  QueuePairs(const sched::Schedule& schedule, const Platform& platform, const Paths& paths);

  /// Whether a post has to take a lock. If not, nothing else here may be called.
  bool are_locked() const { return lock_s_ > 0; }
  /// The last so many seconds of a post, in which it has its queue pair alone.
  double lock_s() const { return lock_s_; }
  std::uint32_t count() const { return count_; }
  /// Of the operation's post, below count(); kNone of receives, of messages in memory, and of what
  /// a switch sends, as of operations that are not posted.
  std::uint32_t of(const sched::Op& op) const {
    return sched::is_initiator(op.kind) ? of_channel_[op.channel.value] : kNone;
  }

 private:
  double lock_s_;
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> of_channel_;  // empty without a lock
};

/// The locks of one run. Posts have them in the order in which they ask.
class QueuePairLocks {
 public:
  QueuePairLocks(const sched::Schedule& schedule, const Platform& platform, const Paths& paths)
      : pairs_(schedule, platform, paths),
        free_s_(pairs_.are_locked() ? pairs_.count() : 0, 0),
        last_(free_s_.size(), sched::OpId::none()) {}

  bool any() const { return pairs_.are_locked(); }
  double lock_s() const { return pairs_.lock_s(); }
  bool locks(const sched::Op& op) const { return any() && pairs_.of(op) != QueuePairs::kNone; }

  struct Turn {
    double wait_s;       // until the lock is free
    double end_s;        // when the post is over
    sched::OpId behind;  // whose post it waits for; none if it waits for none
  };
  /// The post of the operation, which locks(), asks now.
  Turn ask(sched::OpId id, const sched::Op& op, double now_s) {
    const std::uint32_t pair = pairs_.of(op);
    const double begin_s = free_s_[pair] > now_s ? free_s_[pair] : now_s;
    const sched::OpId behind = begin_s > now_s ? last_[pair] : sched::OpId::none();
    free_s_[pair] = begin_s + pairs_.lock_s();
    last_[pair] = id;
    return {begin_s - now_s, free_s_[pair], behind};
  }

  /// As in another run of the same.
  void resume(const QueuePairLocks& other) {
    free_s_ = other.free_s_;
    last_ = other.last_;
  }
  /// Whether posts that ask from `now_s` on would have their turns alike in both runs.
  bool goes_on_as(const QueuePairLocks& second, double now_s) const {
    for (std::size_t pair = 0; pair < free_s_.size(); ++pair) {
      const double mine_s = free_s_[pair];
      const double its_s = second.free_s_[pair];
      if ((mine_s > now_s || its_s > now_s) && mine_s != its_s) return false;
    }
    return true;
  }

 private:
  const QueuePairs pairs_;
  std::vector<double> free_s_;     // of each queue pair: from when on nobody has or awaits it
  std::vector<sched::OpId> last_;  // whose post has it until then
};

}  // namespace slackline::machine
