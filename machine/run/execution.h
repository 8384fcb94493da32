// One run of a schedule on a platform: the rules of docs/architecture.md, "The machine model", as a
// state machine that is told what ends when. What is ready, and who has which lane, is
// machine/run/core.h's; here are the clock, the NICs and the bytes. The event engine and the
// SimGrid engine both drive it; they differ in who says how long a large message takes.
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
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/atomic_service.h"
#include "machine/bundles.h"
#include "machine/delays.h"
#include "machine/event_queue.h"
#include "machine/issue_policy.h"
#include "machine/lane.h"
#include "machine/meetings.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/port_arbiter.h"
#include "machine/run/core.h"
#include "machine/run/graph.h"
#include "machine/run/operands.h"
#include "machine/run_memory.h"
#include "machine/word_queues.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// Throws InputError on a message without its other half, a poll that looks at other bytes than its
/// put's last (sched/flags.h) or a region that nothing decides: what a run could neither finish nor
/// explain.
void require_executable(const sched::Schedule& schedule);

/// The length of Trace::request_s and Trace::results: every operation's place if there are gets or
/// atomics, else 0.
std::size_t request_count(const sched::Schedule& schedule);

/// Throws InputError naming the first operation that never finished, unless something failed.
void require_finished(const sched::Schedule& schedule, const sched::Trace& trace,
                      const Paths& paths);

/// Where a run writes what happens, and the seed of what it draws.
struct RunRecord {
  std::span<sched::OpTimes> times;   // of every operation; infinite where one never came
  std::span<double> request_s;       // Trace::request_s, of request_count() zeros
  std::span<std::uint64_t> results;  // Trace::results, likewise
  std::span<std::byte> memory;       // Trace::memory, zeros: the bytes of…
  KeptMemory kept;                   // …the schedule's
  std::uint64_t seed = 0;
};

/// Makes room in a trace.
RunRecord record_in(sched::Trace& trace, const sched::Schedule& schedule, std::uint64_t seed);

template <class Network>
class Execution {
 public:
  using Event = ExecutionEvent;
  using Kind = ExecutionEvent::Kind;

  /// All references, and what `record` points to, must outlive this. Throws as sched::RegionTree
  /// does.
  Execution(const sched::Schedule& schedule, const Platform& platform, const Delays& delays,
            const Paths& paths, const IssueOrder& order, const RunRecord& record, Network& network);
  /// The same where the graph of all of the schedule's operations is there already.
  Execution(const RunGraph& graph, const Platform& platform, const Delays& delays,
            const Paths& paths, const IssueOrder& order, const RunRecord& record, Network& network);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Time zero: everything without predecessors becomes ready.
  void start();

  /// All events of one instant. Reorders `events`. Throws InputError when a retry has failed for
  /// the last time, and when an operand is not there.
  void instant(double now_s, std::vector<Event>& events);

  /// Between two instants, or before the first: as another run of the same schedule is now, with
  /// the same of everything but delays that are still to come. The schedule has no regions and
  /// gathers no messages. What the record points to, and the network, are for the caller to copy.
  void resume(const Execution& other);
  /// After an instant of both, at the same time: whether the same follows as in another such run,
  /// bit by bit, if the same is pending at the networks. May say no where it does.
  bool goes_on_as(const Execution& other) const;

  /// Fair NICs: some port carried two large messages at once.
  bool shared() const { return shared_; }

 private:
  using Op = sched::Op;
  using OpId = sched::OpId;
  using OpKind = sched::OpKind;
  using RankId = sched::RankId;

  // The graph is `shared`, or made if that is null.
  Execution(const RunGraph* shared, const sched::Schedule& schedule, const Platform& platform,
            const Delays& delays, const Paths& paths, const IssueOrder& order,
            const RunRecord& record, Network& network);

  const Op& op(OpId id) const { return schedule_.op(id); }
  sched::OpTimes& times(OpId id) { return core_.times(id.value); }

  bool has_failed(RankId rank) const { return now_s_ + kInstant_s > paths_.gone_s(rank); }
  PathId path_of(OpId id, bool reply) const { return paths_.of(op(id).channel, reply); }
  const Path& way_of(OpId id, bool reply) const { return paths_[path_of(id, reply)]; }
  double latency_s(OpId id, bool reply) const { return way_of(id, reply).latency_s; }

  // What was begun in order mostly ends in order.
  static void in_order(std::vector<Event>& events) {
    if (!std::is_sorted(events.begin(), events.end())) std::sort(events.begin(), events.end());
  }

  void settle();
  void handle(const Event& event);

  // What the core asks: machine/run/core.h.
  friend class RunCore<Execution>;
  double now_s() const { return now_s_; }
  double moment() const { return now_s_; }
  bool is_gone(std::uint32_t o) const { return paths_.may_fail() && has_failed(op(OpId(o)).rank); }
  double post_delay_s(std::uint32_t o) const { return delays_.post_delay_s(OpId(o)); }
  void hold_back(std::uint32_t o, double wait_s) {
    network_.at(now_s_ + wait_s, {OpId(o), Kind::kHeldBack});
  }
  bool takes_lane(std::uint32_t o) const {
    return holds_lane(op(OpId(o)).kind) || (bundled_ && bundles_.concern(op(OpId(o))));
  }
  void at_once(std::uint32_t node) {
    const bool region = core_.tree().is_region(node);
    ended_now_.push_back({OpId(node), region ? Kind::kEnter : Kind::kIssue});
  }
  void come_again(std::uint32_t region, double wait_s) {
    end_at(now_s_ + wait_s, {OpId(core_.tree().node_of(region)), Kind::kEnter});
  }
  void attempt_begins(std::uint32_t o) { replying_[o] = 0; }
  void room_made(std::uint32_t o) {
    if (bundled_ && bundles_.counts(op(OpId(o)))) done_in_window(OpId(o));
  }
  bool succeeded(std::uint32_t o) const { return operands_.succeeded(o); }
  void all_ended() {}

  void serve(std::uint32_t lane);
  void issue(OpId id);
  void done(OpId id);
  void done_at(OpId id, double time_s);
  void end_at(double time_s, Event event);

  // execution_bundles.h
  bool serve_bundle(const Lanes::Waiting& turn);
  void post_bundle(OpId oldest, double wait_s);
  void bundle_posted(OpId oldest);
  void gather_or_send(OpId id);
  void bundle_due(sched::ChannelId channel);
  void bundle_old(OpId oldest);
  void done_in_window(OpId id);
  bool is_stale(const Lanes::Waiting& turn) {
    return turn.bundle != 0 && bundles_.open(op(OpId(turn.op)).channel).serial != turn.bundle;
  }

  // execution_messages.h
  void queue_message(OpId id);
  void copy_message(OpId id, bool reply);
  void start_message(const PortArbiter::Start& start, bool large);
  void free_out_after_gap(OpId id, bool reply, PortArbiter& ports, RankId src);
  static Kind out_free(bool reply, bool large) {
    return reply ? Kind::kReplyOutFree : large ? Kind::kLargeOutFree : Kind::kOutFree;
  }
  void sent(OpId id);
  void lost(OpId id);
  void leave_ports(OpId id, bool reply);
  void count_large(RankId src, RankId dst);
  void acknowledge(OpId id, double landed_s);
  void meet(OpId id, double arrival_s);
  void land(OpId receive, OpId source);
  void arrived(OpId id);
  void serve_atomic(OpId id);
  void served(OpId id);

  // Gets and atomics are two messages: an empty request and the reply.
  std::uint64_t message_bytes(OpId id, bool reply) const {
    const Op& o = op(id);
    if (sched::has_reply(o.kind)) {
      return reply ? schedule_.payload_bytes(o) : 0;
    }
    return bundled_ ? bundles_.bytes(id) : schedule_.payload_bytes(o);
  }
  PortArbiter& ports_of(std::uint64_t bytes) { return is_large(bytes) ? large_ : small_; }
  // In one bundle; they travel as one.
  OpId behind(OpId id) const { return bundled_ ? bundles_.next(id) : OpId::none(); }
  bool is_large(std::uint64_t bytes) const { return bytes > platform_.interleave_bytes; }
  std::pair<RankId, RankId> ends(OpId id, bool reply) const {
    const sched::Channel& channel = schedule_.channel(op(id).channel);
    return reply ? std::pair{channel.dst, channel.src} : std::pair{channel.src, channel.dst};
  }

  const sched::Schedule& schedule_;
  const Platform& platform_;
  const Delays& delays_;
  const Paths& paths_;
  Network& network_;

  // The platform's times, in seconds.
  const double o_post_s_;
  const double o_complete_s_;
  const double gap_s_;
  const double read_s_;
  const bool serial_;

  double now_s_ = 0;
  std::span<double> request_s_;
  const std::unique_ptr<const RunGraph> own_graph_;
  const RunGraph& graph_;
  RunCore<Execution> core_;
  Meetings meetings_;
  Bundles bundles_;
  const bool bundled_;
  std::vector<char> replying_;  // get, atomics: the answer is under way
  PortArbiter large_;           // a machine's ports go by its first rank
  PortArbiter small_;
  std::vector<std::uint32_t> large_out_;  // fair: large messages on each port
  std::vector<std::uint32_t> large_in_;
  const KeptMemory kept_;
  Operands operands_;
  RunMemory memory_;
  WordQueues words_;
  AtomicService service_;
  std::vector<Event> ended_now_;
  std::vector<Event> batch_;
  bool shared_ = false;
};

template <class Network>
Execution<Network>::Execution(const sched::Schedule& schedule, const Platform& platform,
                              const Delays& delays, const Paths& paths, const IssueOrder& order,
                              const RunRecord& record, Network& network)
    : Execution(nullptr, schedule, platform, delays, paths, order, record, network) {}

template <class Network>
Execution<Network>::Execution(const RunGraph& graph, const Platform& platform, const Delays& delays,
                              const Paths& paths, const IssueOrder& order, const RunRecord& record,
                              Network& network)
    : Execution(&graph, graph.schedule(), platform, delays, paths, order, record, network) {}

template <class Network>
Execution<Network>::Execution(const RunGraph* shared, const sched::Schedule& schedule,
                              const Platform& platform, const Delays& delays, const Paths& paths,
                              const IssueOrder& order, const RunRecord& record, Network& network)
    : schedule_(schedule),
      platform_(platform),
      delays_(delays),
      paths_(paths),
      network_(network),
      o_post_s_(sched::seconds(platform.o_post)),
      o_complete_s_(sched::seconds(platform.o_complete)),
      gap_s_(sched::seconds(platform.gap)),
      read_s_(read_s(platform, false)),
      serial_(platform.nic == NicDiscipline::kSerial),
      request_s_(record.request_s),
      own_graph_(shared != nullptr ? nullptr
                                   : std::make_unique<const RunGraph>(
                                         schedule, sched::OpRange::of_all(schedule))),
      graph_(shared != nullptr ? *shared : *own_graph_),
      core_(*this, graph_, record.times, order, platform.interleave_bytes, record.seed),
      meetings_(schedule, graph_.tree()),
      bundles_(schedule),
      bundled_(bundles_.any()),
      replying_(schedule.op_count(), 0),
      large_(schedule.rank_count()),
      small_(schedule.rank_count()),
      large_out_(serial_ ? 0 : schedule.rank_count(), 0),
      large_in_(serial_ ? 0 : schedule.rank_count(), 0),
      kept_(record.kept),
      operands_(schedule, graph_.range(), record.times, record.results),
      memory_(schedule, kept_, operands_, record.memory),
      service_(schedule, platform, paths) {
  core_.reset();
}

template <class Network>
void Execution<Network>::start() {
  core_.start();
  settle();
}

template <class Network>
void Execution<Network>::instant(double now_s, std::vector<Event>& events) {
  now_s_ = now_s;
  in_order(events);
  for (const Event& event : events) handle(event);
  settle();
}

// What ends comes before what starts; what starts and takes no time ends in the same instant. Lanes
// start before messages, and messages without bytes before the others: what those set free may be
// a rival of the same instant for the port that one with bytes would hold.
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
    std::vector<std::uint32_t>& touched = core_.lanes().touched();
    for (std::size_t i = 0; i < touched.size(); ++i) serve(touched[i]);
    touched.clear();
    if (!ended_now_.empty()) continue;
    PortArbiter::Start start;
    while (small_.next_empty(start)) start_message(start, false);
    if (!ended_now_.empty()) continue;
    while (large_.next_start(start)) start_message(start, true);
    while (small_.next_start(start)) start_message(start, false);
  } while (!ended_now_.empty());
}

template <class Network>
void Execution<Network>::handle(const Event& event) {
  const OpId id = event.op();
  if (event.kind() == Kind::kEnter) return core_.enter(core_.tree().region_of(id.value));
  if (event.is_local() && is_gone(id.value)) return;
  switch (event.kind()) {
    case Kind::kHeldBack:
      core_.offer(id.value);
      break;
    case Kind::kIssue:
      issue(id);
      break;
    case Kind::kLaneEnd:
      core_.lanes().release(core_.lanes().lane_of(id.value), now_s_);
      is_posted(op(id).kind) || op(id).kind == OpKind::kFlush ? issue(id) : done(id);
      break;
    case Kind::kBundlePosted:
      bundle_posted(id);
      break;
    case Kind::kBundleDue:
      bundle_old(id);
      break;
    case Kind::kOutFree:
      small_.free_out(now_s_, way_of(id, false).src_nic);
      break;
    case Kind::kLargeOutFree:
      large_.free_out(now_s_, way_of(id, false).src_nic);
      break;
    case Kind::kReplyOutFree:
      ports_of(message_bytes(id, true)).free_out(now_s_, way_of(id, true).src_nic);
      break;
    case Kind::kSent:
      sent(id);
      for (OpId m = behind(id); m.valid(); m = behind(m)) sent(m);
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
    case Kind::kEnter:
      break;
  }
}

// One operation at a time, also when it takes no time: what it releases may come before the rest.
template <class Network>
void Execution<Network>::serve(std::uint32_t lane) {
  Lanes& lanes = core_.lanes();
  lanes.untouch(lane);
  const std::optional<Lanes::Waiting> turn =
      core_.next_turn(lane, [this](const Lanes::Waiting& next) { return is_stale(next); });
  if (!turn || (bundled_ && serve_bundle(*turn))) return;
  const OpId id(turn->op);
  const double hold_s = lane_time_s(schedule_, platform_, op(id)) + delays_.lane_delay_s(id);
  if (!is_posted(op(id).kind)) issue(id);
  lanes.hold(id.value, hold_s > 0);
  if (hold_s > 0) {
    network_.at(now_s_ + hold_s, {id, Kind::kLaneEnd});
  } else {
    ended_now_.push_back({id, Kind::kLaneEnd});
  }
}

template <class Network>
void Execution<Network>::issue(OpId id) {
  const Op& o = op(id);
  sched::OpTimes& t = times(id);
  core_.issued(id.value);
  switch (o.kind) {
    case OpKind::kRecv:
    case OpKind::kPoll:
      if (meetings_.holds(id)) {
        if (const auto met = meetings_.posted(id)) {
          t.wire_s = met->arrival_s;
          land(id, met->source);
        }
      } else if (std::isfinite(t.wire_s)) {
        land(id, o.match);
      }
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
    case OpKind::kFlush:
      if (bundled_ && bundles_.kept(id).valid()) bundle_posted(bundles_.kept(id));
      [[fallthrough]];
    case OpKind::kJoin:
      t.wire_s = now_s_;
      ended_now_.push_back({id, Kind::kDone});
      break;
    case OpKind::kCopy:
    case OpKind::kReduce:
    case OpKind::kCalc:
      t.wire_s = now_s_;
      break;
    default:
      if (o.arguments != sched::kNoArguments || sched::is_atomic(o.kind)) {
        operands_.read(id.value, now_s_);
      }
      meetings_.initiated(id);
      if (bundled_ && bundles_.concern(o)) return gather_or_send(id);
      queue_message(id);
  }
}

template <class Network>
void Execution<Network>::done(OpId id) {
  const OpKind kind = op(id).kind;
  if ((kind == OpKind::kCopy || kind == OpKind::kReduce) && memory_.moves(id)) memory_.move(id);
  core_.done(id.value);
}

// What nothing waits for needs no event.
template <class Network>
void Execution<Network>::done_at(OpId id, double time_s) {
  if (paths_.may_fail() && time_s + kInstant_s > paths_.gone_s(op(id).rank)) return;
  if (!core_.is_awaited(id.value) && !(bundled_ && bundles_.counts(op(id)))) {
    times(id).done_s = time_s;
  } else {
    end_at(time_s, {id, Kind::kDone});
  }
}

// What ends in this very instant does so before anything else starts in it: also what a sum of
// other durations puts a rounding error later, since an instant takes what comes less than
// kInstant_s after it. (Where a double has no picoseconds, only what comes at the very time.)
template <class Network>
void Execution<Network>::end_at(double time_s, Event event) {
  if (time_s > now_s_ && time_s >= now_s_ + kInstant_s) {
    network_.at(time_s, event);
  } else {
    ended_now_.push_back(event);
  }
}

}  // namespace slackline::machine

#include "machine/run/execution_bundles.h"
#include "machine/run/execution_messages.h"
#include "machine/run/execution_resumed.h"
