// One run of a schedule on a platform: the rules of docs/architecture.md, "The machine model", as a
// state machine that is told what ends when. The event engine and the SimGrid engine both drive it;
// they differ in who says how long a large message takes.
//
// A Network offers
//   void at(double time_s, ExecutionEvent event);    deliver `event` at that time, not before now
//   void transmit(double now_s, PathId path, std::uint64_t bytes, OpId op);
//                                      start a large message; kSent at its end, or kLost when its
//                                      path is cut before
// and calls instant() once per instant of time, with all the events that fall within it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "machine/delays.h"
#include "machine/event_queue.h"
#include "machine/issue_policy.h"
#include "machine/lane.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/port_arbiter.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// Throws Unsupported on dynamic schedules and InputError, naming the operation, on a message
/// without its other half: what a run could neither finish nor explain.
void require_executable(const sched::Schedule& schedule, std::string_view engine);

/// The length of Trace::request_s: every operation's place if there are gets or atomics, else 0.
std::size_t request_count(const sched::Schedule& schedule);

/// Throws InputError naming the first operation that never finished, unless something failed.
void require_finished(const sched::Schedule& schedule, const sched::Trace& trace,
                      const Paths& paths);

/// The lane that an operation occupies, as an index over all lanes of all ranks.
struct LaneIndex {
  explicit LaneIndex(const sched::Schedule& schedule);
  std::vector<std::uint32_t> of_op;  // empty if every operation is on lane 0 of its rank
  std::uint32_t count = 0;
  std::uint32_t of(sched::OpId id, const sched::Op& op) const {
    return of_op.empty() ? op.rank.value : of_op[id.value];
  }
};

template <class Network>
class Execution {
 public:
  using Event = ExecutionEvent;
  using Kind = ExecutionEvent::Kind;

  /// Writes the times of every operation into `times`; infinite where one never came. `request_s`
  /// is Trace::request_s, of request_count() zeros. All references must outlive
  /// this.
  Execution(const sched::Schedule& schedule, const Platform& platform, const Delays& delays,
            const Paths& paths, const IssueOrder& order, std::span<sched::OpTimes> times,
            std::span<double> request_s, Network& network);

  /// Time zero: everything without predecessors becomes ready.
  void start();

  /// All events of one instant. Reorders `events`.
  void instant(double now_s, std::vector<Event>& events);

  /// Fair NICs: some port carried two large messages at once.
  bool shared() const { return shared_; }

 private:
  using Op = sched::Op;
  using OpId = sched::OpId;
  using OpKind = sched::OpKind;
  using RankId = sched::RankId;

  struct Waiting {
    double place;  // the least goes first; 0 for the in-order policy
    OpId op;
    double offered_s;  // to its lane
  };
  struct Lane {
    std::vector<Waiting> ready;  // a heap
    bool busy = false;
    bool dirty = false;
    OpId last;
  };
  struct OutEdge {
    std::uint32_t succ : 31;
    std::uint32_t on_done : 1;
  };
  struct Word {  // a 64-bit word that atomics act on
    std::vector<OpId> queue;
    std::size_t head = 0;
    bool busy = false;
  };

  const Op& op(OpId id) const { return schedule_.op(id); }
  sched::OpTimes& times(OpId id) { return times_[id.value]; }

  static bool after(const Waiting& a, const Waiting& b) {
    return a.place != b.place ? a.place > b.place : a.op > b.op;
  }
  double place_of(OpId id) const {
    if (order_.policy == IssuePolicy::kInOrder) return 0;
    return order_.policy == IssuePolicy::kReady ? now_s_ : order_.slack_s[id.value];
  }
  bool is_gone(RankId rank) const { return now_s_ + kInstant_s > paths_.gone_s(rank); }
  PathId path_of(OpId id, bool reply) const { return paths_.of(op(id).channel, reply); }
  double latency_s(OpId id, bool reply) const { return paths_[path_of(id, reply)].latency_s; }

  // What was begun in order mostly ends in order.
  static void in_order(std::vector<Event>& events) {
    if (!std::is_sorted(events.begin(), events.end())) std::sort(events.begin(), events.end());
  }

  void settle();
  void handle(const Event& event);
  void release(OpId id, OpId cause);
  void make_ready(OpId id);
  void offer(OpId id);
  void to_lane(const Waiting& waiting);
  void touch(std::uint32_t lane);
  bool is_bounded(OpId id) const;
  bool hold_back(const Waiting& waiting);
  void serve(Lane& lane);
  void issue(OpId id);
  void done(OpId id);
  void done_at(OpId id, double time_s);
  void end_at(double time_s, Event event);
  void queue_message(OpId id);
  void start_message(const PortArbiter::Start& start, bool large);
  void free_out_after_gap(OpId id, bool reply, PortArbiter& ports, RankId src);
  void sent(OpId id);
  void lost(OpId id);
  void leave_ports(OpId id, bool reply);
  void count_large(RankId src, RankId dst);
  void acknowledge(OpId id, double landed_s);
  void land(OpId receive);
  void arrived(OpId id);
  void serve_word(Word& word);
  void served(OpId id);

  // Gets and atomics are two messages: an empty request and the reply.
  std::uint64_t message_bytes(OpId id, bool reply) const {
    const Op& o = op(id);
    if (sched::has_reply(o.kind)) {
      return reply ? schedule_.payload_bytes(o) : 0;
    }
    return schedule_.payload_bytes(o);
  }
  PortArbiter& ports_of(std::uint64_t bytes) { return is_large(bytes) ? large_ : small_; }
  bool is_large(std::uint64_t bytes) const { return bytes > platform_.interleave_bytes; }
  std::pair<RankId, RankId> ends(OpId id, bool reply) const {
    const sched::Channel& channel = schedule_.channel(op(id).channel);
    return reply ? std::pair{channel.dst, channel.src} : std::pair{channel.src, channel.dst};
  }
  Word& word_of(OpId id) {
    const sched::Slice& slice = schedule_.slices(op(id).reads).front();
    return words_[{slice.buffer.value, slice.offset}];
  }

  const sched::Schedule& schedule_;
  const Platform& platform_;
  const Delays& delays_;
  const Paths& paths_;
  const IssueOrder order_;
  Network& network_;

  // The platform's times, in seconds.
  const double o_complete_s_;
  const double gap_s_;
  const double atomic_s_;
  const bool serial_;

  double now_s_ = 0;
  std::span<sched::OpTimes> times_;
  std::span<double> request_s_;
  std::vector<std::uint32_t> waiting_for_;  // predecessors not there yet
  std::vector<std::uint32_t> out_begin_;    // of each operation, its edges in `out_`
  std::vector<OutEdge> out_;
  std::vector<OpId> next_on_channel_;
  std::vector<char> replying_;  // get, atomics: the answer is under way
  LaneIndex lane_index_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> dirty_lanes_;
  std::vector<std::uint32_t> in_flight_;       // of every rank, if there is a bound
  std::vector<std::vector<Waiting>> bounded_;  // of every rank, ready but for the bound: heaps
  PortArbiter large_;
  PortArbiter small_;
  std::vector<std::uint32_t> large_out_;  // fair: large messages on each port
  std::vector<std::uint32_t> large_in_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Word> words_;
  std::vector<Event> ended_now_;
  std::vector<Event> batch_;
  bool shared_ = false;
};

template <class Network>
Execution<Network>::Execution(const sched::Schedule& schedule, const Platform& platform,
                              const Delays& delays, const Paths& paths, const IssueOrder& order,
                              std::span<sched::OpTimes> times, std::span<double> request_s,
                              Network& network)
    : schedule_(schedule),
      platform_(platform),
      delays_(delays),
      paths_(paths),
      order_(order),
      network_(network),
      o_complete_s_(sched::seconds(platform.o_complete)),
      gap_s_(sched::seconds(platform.gap)),
      atomic_s_(sched::seconds(platform.atomic_service)),
      serial_(platform.nic == NicDiscipline::kSerial),
      times_(times),
      request_s_(request_s),
      waiting_for_(schedule.op_count(), 0),
      out_begin_(schedule.op_count() + 1, 0),
      out_(schedule.edges().size()),
      next_on_channel_(schedule.op_count()),
      replying_(schedule.op_count(), 0),
      lane_index_(schedule),
      lanes_(lane_index_.count),
      in_flight_(order.sends_in_flight == 0 ? 0 : schedule.rank_count(), 0),
      bounded_(in_flight_.size()),
      large_(schedule.rank_count()),
      small_(schedule.rank_count()),
      large_out_(serial_ ? 0 : schedule.rank_count(), 0),
      large_in_(serial_ ? 0 : schedule.rank_count(), 0) {
  require_complete(order_, schedule.op_count());
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::fill(times_.begin(), times_.end(),
            sched::OpTimes{kNever, kNever, kNever, kNever, 1, OpId::none()});
  for (const sched::Edge& edge : schedule.edges()) {
    ++out_begin_[edge.pred.value + 1];
    ++waiting_for_[edge.succ.value];
  }
  for (std::size_t i = 1; i < out_begin_.size(); ++i) out_begin_[i] += out_begin_[i - 1];
  std::vector<std::uint32_t> fill(out_begin_.begin(), out_begin_.end() - 1);
  for (const sched::Edge& edge : schedule.edges()) {
    out_[fill[edge.pred.value]++] = {edge.succ.value & 0x7fffffffu,
                                     edge.on == sched::On::kDone ? 1u : 0u};
  }
  std::vector<OpId> last(2 * schedule.channels().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& o = schedule.ops()[i];
    if (!sched::has_channel(o.kind)) continue;
    OpId& previous = last[2 * o.channel.value + (o.kind == OpKind::kRecv ? 1 : 0)];
    if (previous.valid()) {
      next_on_channel_[previous.value] = OpId(i);
      ++waiting_for_[i];
    }
    previous = OpId(i);
  }
}

template <class Network>
void Execution<Network>::start() {
  for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
    if (waiting_for_[i] == 0) make_ready(OpId(i));
  }
  settle();
}

template <class Network>
void Execution<Network>::instant(double now_s, std::vector<Event>& events) {
  now_s_ = now_s;
  in_order(events);
  for (const Event& event : events) handle(event);
  settle();
}

// What ends comes before what starts; what starts and takes no time ends in the same instant.
template <class Network>
void Execution<Network>::settle() {
  do {
    if (!ended_now_.empty()) {
      batch_.swap(ended_now_);
      in_order(batch_);
      for (const Event& event : batch_) handle(event);
      batch_.clear();
      if (!ended_now_.empty()) continue;
    }
    for (std::size_t i = 0; i < dirty_lanes_.size(); ++i) serve(lanes_[dirty_lanes_[i]]);
    dirty_lanes_.clear();
    PortArbiter::Start start;
    while (large_.next_start(start)) start_message(start, true);
    while (small_.next_start(start)) start_message(start, false);
  } while (!ended_now_.empty());
}

template <class Network>
void Execution<Network>::handle(const Event& event) {
  const OpId id = event.op();
  if (paths_.may_fail() && event.is_local() && is_gone(op(id).rank)) return;
  switch (event.kind()) {
    case Kind::kHeldBack:
      offer(id);
      break;
    case Kind::kIssue:
      issue(id);
      break;
    case Kind::kLaneEnd: {
      const std::uint32_t lane = lane_index_.of(id, op(id));
      lanes_[lane].busy = false;
      touch(lane);
      is_posted(op(id).kind) ? issue(id) : done(id);
      break;
    }
    case Kind::kOutFree:
    case Kind::kReplyOutFree: {
      const bool reply = event.kind() == Kind::kReplyOutFree;
      ports_of(message_bytes(id, reply)).free_out(now_s_, ends(id, reply).first);
      break;
    }
    case Kind::kSent:
      sent(id);
      break;
    case Kind::kLost:
      lost(id);
      break;
    case Kind::kArrived:
      arrived(id);
      break;
    case Kind::kServed:
      served(id);
      break;
    case Kind::kDone:
      done(id);
      break;
  }
}

template <class Network>
void Execution<Network>::release(OpId id, OpId cause) {
  if (--waiting_for_[id.value] != 0) return;
  times(id).cause = cause;
  make_ready(id);
}

template <class Network>
void Execution<Network>::make_ready(OpId id) {
  if (paths_.may_fail() && is_gone(op(id).rank)) return;
  times(id).ready_s = now_s_;
  const double delay_s = delays_.post_delay_s(id);
  if (delay_s > 0) {
    network_.at(now_s_ + delay_s, {id, Kind::kHeldBack});
  } else {
    offer(id);
  }
}

template <class Network>
void Execution<Network>::offer(OpId id) {
  if (!holds_lane(op(id).kind)) {
    ended_now_.push_back({id, Kind::kIssue});
    return;
  }
  to_lane({place_of(id), id, now_s_});
}

template <class Network>
void Execution<Network>::to_lane(const Waiting& waiting) {
  const std::uint32_t index = lane_index_.of(waiting.op, op(waiting.op));
  Lane& lane = lanes_[index];
  lane.ready.push_back(waiting);
  std::push_heap(lane.ready.begin(), lane.ready.end(), after);
  touch(index);
}

template <class Network>
void Execution<Network>::touch(std::uint32_t lane) {
  if (lanes_[lane].dirty) return;
  lanes_[lane].dirty = true;
  dirty_lanes_.push_back(lane);
}

template <class Network>
bool Execution<Network>::is_bounded(OpId id) const {
  return !in_flight_.empty() && (op(id).kind == OpKind::kSend || op(id).kind == OpKind::kPut) &&
         is_large(schedule_.payload_bytes(op(id)));
}

// Whether the rank has too much under way to post this too. If not, it counts from now on.
template <class Network>
bool Execution<Network>::hold_back(const Waiting& waiting) {
  if (!is_bounded(waiting.op)) return false;
  const std::uint32_t rank = op(waiting.op).rank.value;
  if (in_flight_[rank] < order_.sends_in_flight) {
    ++in_flight_[rank];
    return false;
  }
  bounded_[rank].push_back(waiting);
  std::push_heap(bounded_[rank].begin(), bounded_[rank].end(), after);
  return true;
}

// One operation at a time, also when it takes no time: what it releases may come before the rest.
template <class Network>
void Execution<Network>::serve(Lane& lane) {
  lane.dirty = false;
  Waiting next;
  do {
    if (lane.busy || lane.ready.empty()) return;
    std::pop_heap(lane.ready.begin(), lane.ready.end(), after);
    next = lane.ready.back();
    lane.ready.pop_back();
  } while (hold_back(next));
  const OpId id = next.op;
  sched::OpTimes& t = times(id);
  if (lane.last.valid() && next.offered_s < now_s_) t.cause = lane.last;
  const double hold_s = lane_time_s(schedule_, platform_, op(id)) + delays_.lane_delay_s(id);
  if (!is_posted(op(id).kind)) issue(id);
  lane.busy = true;
  if (hold_s > 0) {
    lane.last = id;
    network_.at(now_s_ + hold_s, {id, Kind::kLaneEnd});
  } else {
    ended_now_.push_back({id, Kind::kLaneEnd});
  }
}

template <class Network>
void Execution<Network>::issue(OpId id) {
  const Op& o = op(id);
  sched::OpTimes& t = times(id);
  t.issued_s = now_s_;
  if (next_on_channel_[id.value].valid()) release(next_on_channel_[id.value], id);
  for (std::uint32_t i = out_begin_[id.value]; i < out_begin_[id.value + 1]; ++i) {
    if (!out_[i].on_done) release(OpId(out_[i].succ), id);
  }
  switch (o.kind) {
    case OpKind::kRecv:
    case OpKind::kPoll:
      if (std::isfinite(t.wire_s)) land(id);
      break;
    case OpKind::kDelay: {
      t.wire_s = now_s_;
      const double duration_s = sched::seconds(schedule_.arguments(o).duration);
      if (duration_s > 0) {
        done_at(id, now_s_ + duration_s);
      } else {
        ended_now_.push_back({id, Kind::kDone});
      }
      break;
    }
    case OpKind::kJoin:
    case OpKind::kFlush:
      t.wire_s = now_s_;
      ended_now_.push_back({id, Kind::kDone});
      break;
    case OpKind::kCopy:
    case OpKind::kReduce:
    case OpKind::kCalc:
      t.wire_s = now_s_;
      break;
    default:
      queue_message(id);
  }
}

template <class Network>
void Execution<Network>::done(OpId id) {
  times(id).done_s = now_s_;
  if (is_bounded(id)) {
    const std::uint32_t rank = op(id).rank.value;
    --in_flight_[rank];
    if (!bounded_[rank].empty()) {
      std::pop_heap(bounded_[rank].begin(), bounded_[rank].end(), after);
      Waiting next = bounded_[rank].back();
      bounded_[rank].pop_back();
      next.offered_s = now_s_;
      times(next.op).cause = id;
      to_lane(next);
    }
  }
  for (std::uint32_t i = out_begin_[id.value]; i < out_begin_[id.value + 1]; ++i) {
    if (out_[i].on_done) release(OpId(out_[i].succ), id);
  }
}

// What nothing waits for needs no event.
template <class Network>
void Execution<Network>::done_at(OpId id, double time_s) {
  if (paths_.may_fail() && time_s + kInstant_s > paths_.gone_s(op(id).rank)) return;
  if (out_begin_[id.value] == out_begin_[id.value + 1] && !is_bounded(id)) {
    times(id).done_s = time_s;
  } else {
    end_at(time_s, {id, Kind::kDone});
  }
}

// What ends in this very instant does so before anything else starts in it.
template <class Network>
void Execution<Network>::end_at(double time_s, Event event) {
  if (time_s > now_s_) {
    network_.at(time_s, event);
  } else {
    ended_now_.push_back(event);
  }
}

}  // namespace slackline::machine

#include "machine/execution_messages.h"
