// The CPU lanes of a run's ranks: operations that are ready wait here for their turn, in the order
// of the issue policy, and large messages beyond the bound until another is done.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/issue_policy.h"
#include "machine/short_heap.h"
#include "sched/op_range.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// The lane that an operation occupies, as an index over all lanes of a range's ranks.
class LaneIndex {
 public:
  LaneIndex(const sched::Schedule& schedule, sched::OpRange range);
  /// The same where it is known whether some operation is on another lane than 0.
  LaneIndex(const sched::Schedule& schedule, sched::OpRange range, bool several);
  explicit LaneIndex(const sched::Schedule& schedule)
      : LaneIndex(schedule, sched::OpRange::of_all(schedule)) {}

  std::uint32_t count() const { return count_; }
  /// Whether some operation is on another lane than 0.
  bool several() const { return !of_op_.empty(); }
  std::uint32_t of(std::uint32_t op, const sched::Op& o) const {
    return of_op_.empty() ? o.rank.value - first_rank_ : of_op_[op];
  }

 private:
  std::uint32_t first_rank_ = 0;
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> of_op_;  // empty if every operation is on lane 0 of its rank
};

/// Whether an operation counts for IssueOrder::sends_in_flight: a message of more than
/// `small_bytes` that no channel gathers. False where there is no bound.
bool counts_in_flight(const sched::Schedule& schedule, const sched::Op& op, const IssueOrder& order,
                      std::uint64_t small_bytes);

/// Operations go by their place in the range. A *moment* is a number that never falls: simulated
/// seconds, or the number of the event at hand. What comes at one moment is equally old.
class Lanes {
 public:
  static constexpr std::uint32_t kNoOp = 0xffffffffu;

  /// `small_bytes` as for counts_in_flight(), `several` as for LaneIndex. The schedule must outlive
  /// this.
  Lanes(const sched::Schedule& schedule, sched::OpRange range, bool several,
        const IssueOrder& order, std::uint64_t small_bytes);

  std::uint32_t count() const { return index_.count(); }

  struct Waiting {
    double place = 0;  // the least goes first, then the lowest operation
    double since = 0;  // the moment when it came
    std::uint32_t op = kNoOp;
    std::uint32_t bundle = 0;  // not 0: this one is to be posted, of which it is the oldest
  };

  /// An operation, or a bundle, comes to its lane.
  void add(std::uint32_t op, double moment, std::uint32_t bundle = 0) {
    push({place_of(op, moment), moment, op, bundle});
  }

  /// Takes what has its turn; nothing if there is none, or the lane is held. What
  /// `is_stale(waiting)` is forgotten; a large message beyond the bound is put aside.
  template <class IsStale>
  std::optional<Waiting> next(std::uint32_t lane, const IsStale& is_stale) {
    Lane& l = lanes_[lane];
    while (!l.held && !l.ready.empty()) {
      const Waiting next = l.ready.pop();
      if (is_stale(next) || put_aside(next)) continue;
      return next;
    }
    return std::nullopt;
  }

  /// The operation that held the lane while this one waited; kNoOp if none did.
  std::uint32_t behind(std::uint32_t lane, const Waiting& waited) const {
    const Lane& l = lanes_[lane];
    return waited.since < l.released ? l.last : kNoOp;
  }

  /// The operation holds its lane, until it is released; `lasting` if that takes time.
  void hold(std::uint32_t op, bool lasting) { hold(lane_of(op), op, lasting); }
  /// The same where the lane is known.
  void hold(std::uint32_t lane, std::uint32_t op, bool lasting) {
    Lane& l = lanes_[lane];
    l.held = true;
    if (lasting) l.last = op;
  }
  bool is_held(std::uint32_t lane) const { return lanes_[lane].held; }
  /// The moment when it was released last; below 0 if it never was held.
  double released(std::uint32_t lane) const { return lanes_[lane].released; }
  /// Something else than an operation has come to the lane.
  void call(std::uint32_t lane) { touch(lane); }
  void release(std::uint32_t lane, double moment) {
    lanes_[lane].held = false;
    lanes_[lane].released = moment;
    touch(lane);
  }

  /// An operation that had its turn is done. Answers the one that waited for that, and comes to its
  /// lane now; kNoOp if there is none.
  std::uint32_t done(std::uint32_t op, double moment) {
    return is_bounded(op) ? bounded_done(op, moment) : kNoOp;
  }
  /// Whether it counts for the bound: whoever carries it out must say when it is done.
  bool is_bounded(std::uint32_t op) const {
    return order_.sends_in_flight != 0 &&
           counts_in_flight(schedule_, schedule_.op(range_.id(op)), order_, small_bytes_);
  }

  std::uint32_t lane_of(std::uint32_t op) const {
    return index_.of(op, schedule_.op(range_.id(op)));
  }
  /// The lanes to which something has come, or that were released, since they were untouched: each
  /// once, in that order.
  std::vector<std::uint32_t>& touched() { return touched_; }
  /// Has the processor load the operation's lane. Inlined: see machine/run/look_ahead.h.
  [[gnu::always_inline]] void prefetch(std::uint32_t op) const {
    __builtin_prefetch(&lanes_[lane_of(op)], 1);
  }
  void untouch(std::uint32_t lane) { lanes_[lane].touched = false; }

  /// Nothing waits, nothing is held.
  void reset();
  /// As those of another run of the same range, in the same order, are now.
  void resume(const Lanes& other);
  /// Whether the same would have its turn then as in another such run, if the same came from now on
  /// in both.
  bool goes_on_as(const Lanes& other) const;

 private:
  struct Earlier {
    bool operator()(const Waiting& a, const Waiting& b) const {
      return a.place != b.place ? a.place < b.place : a.op < b.op;
    }
  };
  using WaitingHeap = ShortHeap<Waiting, Earlier>;
  struct alignas(64) Lane {                   // one line of a cache
    [[no_unique_address]] WaitingHeap ready;  // what is free at its end is used by what follows
    bool held = false;
    bool touched = false;
    std::uint32_t last = kNoOp;  // that held it for some time
    double released = -1;        // the moment when somebody did so last
  };
  static_assert(sizeof(Lane) == 64);
  // Of a rank.
  struct Bound {
    std::uint32_t in_flight = 0;
    WaitingHeap waiting;  // ready but for the bound
  };

  double place_of(std::uint32_t op, double moment) const {
    if (order_.policy == IssuePolicy::kInOrder) return 0;
    return order_.policy == IssuePolicy::kReady ? moment : order_.slack_s[range_.id(op).value];
  }
  void push(const Waiting& waiting) {
    const std::uint32_t lane = lane_of(waiting.op);
    lanes_[lane].ready.push(waiting);
    touch(lane);
  }
  void touch(std::uint32_t lane) {
    if (lanes_[lane].touched) return;
    lanes_[lane].touched = true;
    touched_.push_back(lane);
  }
  // Whether its rank has too much under way to post this too. If not, it counts from now on.
  bool put_aside(const Waiting& waiting) {
    return is_bounded(waiting.op) && bounded_waits(waiting);
  }
  bool bounded_waits(const Waiting& waiting);
  std::uint32_t bounded_done(std::uint32_t op, double moment);
  Bound& bound_of(std::uint32_t op) {
    return bounds_[schedule_.op(range_.id(op)).rank.value - first_rank_];
  }

  const sched::Schedule& schedule_;
  const sched::OpRange range_;
  const IssueOrder order_;
  const std::uint64_t small_bytes_;
  const LaneIndex index_;
  std::uint32_t first_rank_ = 0;
  std::vector<Lane> lanes_;
  std::vector<Bound> bounds_;  // of every rank, if there is a bound
  std::vector<std::uint32_t> touched_;
};

}  // namespace slackline::machine
