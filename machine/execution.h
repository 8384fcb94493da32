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

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/atomic_service.h"
#include "machine/bundles.h"
#include "machine/delays.h"
#include "machine/event_queue.h"
#include "machine/execution_graph.h"
#include "machine/heap.h"
#include "machine/issue_policy.h"
#include "machine/lane.h"
#include "machine/meetings.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/port_arbiter.h"
#include "machine/region_run.h"
#include "machine/run_memory.h"
#include "machine/word_queues.h"
#include "sched/error.h"
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

/// The lane that an operation occupies, as an index over all lanes of all ranks.
struct LaneIndex {
  explicit LaneIndex(const sched::Schedule& schedule);
  std::vector<std::uint32_t> of_op;  // empty if every operation is on lane 0 of its rank
  std::uint32_t count = 0;
  std::uint32_t of(sched::OpId id, const sched::Op& op) const {
    return of_op.empty() ? op.rank.value : of_op[id.value];
  }
};

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

  /// Time zero: everything without predecessors becomes ready.
  void start();

  /// All events of one instant. Reorders `events`. Throws InputError when a retry has failed for
  /// the last time, and when an operand is not there.
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
    std::uint32_t bundle;  // not 0: this one is to be posted, of which the operation is the oldest
    double offered_s;      // to its lane
  };
  struct Earlier {
    bool operator()(const Waiting& a, const Waiting& b) const {
      return a.place != b.place ? a.place < b.place : a.op < b.op;
    }
  };
  using WaitingHeap = Heap<Waiting, Earlier>;
  struct Lane {
    WaitingHeap ready;
    bool busy = false;
    bool dirty = false;
    OpId last;
  };

  const Op& op(OpId id) const { return schedule_.op(id); }
  sched::OpTimes& times(OpId id) { return times_[id.value]; }

  double place_of(OpId id) const {
    if (order_.policy == IssuePolicy::kInOrder) return 0;
    return order_.policy == IssuePolicy::kReady ? now_s_ : order_.slack_s[id.value];
  }
  bool is_gone(RankId rank) const { return now_s_ + kInstant_s > paths_.gone_s(rank); }
  PathId path_of(OpId id, bool reply) const { return paths_.of(op(id).channel, reply); }
  const Path& way_of(OpId id, bool reply) const { return paths_[path_of(id, reply)]; }
  double latency_s(OpId id, bool reply) const { return way_of(id, reply).latency_s; }

  // What was begun in order mostly ends in order.
  static void in_order(std::vector<Event>& events) {
    if (!std::is_sorted(events.begin(), events.end())) std::sort(events.begin(), events.end());
  }

  void settle();
  void handle(const Event& event);

  // execution_operations.h
  void release(std::uint32_t node, OpId cause);
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

  // execution_bundles.h
  bool serve_bundle(Lane& lane, const Waiting& turn);
  void post_bundle(OpId oldest, double wait_s);
  void bundle_posted(OpId oldest);
  void gather_or_send(OpId id);
  void bundle_due(sched::ChannelId channel);
  void bundle_old(OpId oldest);
  void done_in_window(OpId id);
  bool is_stale(const Waiting& turn) {
    return turn.bundle != 0 && bundles_.open(op(turn.op).channel).serial != turn.bundle;
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

  // execution_regions.h
  void enter(std::uint32_t region);
  void begin_attempt(std::uint32_t region);
  void ended_within(std::uint32_t region, OpId last);
  void leave(std::uint32_t region, OpId last);
  void come_again(std::uint32_t region, double backoff_s);
  void pass_over(std::uint32_t region);

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
  const IssueOrder order_;
  Network& network_;

  // The platform's times, in seconds.
  const double o_post_s_;
  const double o_complete_s_;
  const double gap_s_;
  const double read_s_;
  const bool serial_;

  double now_s_ = 0;
  std::span<sched::OpTimes> times_;
  std::span<double> request_s_;
  sched::RegionTree tree_;
  ExecutionGraph graph_;  // waiting_for: those not there yet
  RegionRun regions_;
  Meetings meetings_;
  const bool has_regions_;
  Bundles bundles_;
  const bool bundled_;
  std::vector<char> replying_;  // get, atomics: the answer is under way
  LaneIndex lane_index_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> dirty_lanes_;
  std::vector<std::uint32_t> in_flight_;  // of every rank, if there is a bound
  std::vector<WaitingHeap> bounded_;      // of every rank, ready but for the bound
  PortArbiter large_;                     // a machine's ports go by its first rank
  PortArbiter small_;
  std::vector<std::uint32_t> large_out_;  // fair: large messages on each port
  std::vector<std::uint32_t> large_in_;
  const KeptMemory kept_;
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
    : schedule_(schedule),
      platform_(platform),
      delays_(delays),
      paths_(paths),
      order_(order),
      network_(network),
      o_post_s_(sched::seconds(platform.o_post)),
      o_complete_s_(sched::seconds(platform.o_complete)),
      gap_s_(sched::seconds(platform.gap)),
      read_s_(read_s(platform, false)),
      serial_(platform.nic == NicDiscipline::kSerial),
      times_(record.times),
      request_s_(record.request_s),
      tree_(schedule),
      graph_(schedule, tree_),
      regions_(schedule, tree_, graph_.waiting_for, record.seed),
      meetings_(schedule, tree_),
      has_regions_(!tree_.empty()),
      bundles_(schedule),
      bundled_(bundles_.any()),
      replying_(schedule.op_count(), 0),
      lane_index_(schedule),
      lanes_(lane_index_.count),
      in_flight_(order.sends_in_flight == 0 ? 0 : schedule.rank_count(), 0),
      bounded_(in_flight_.size()),
      large_(schedule.rank_count()),
      small_(schedule.rank_count()),
      large_out_(serial_ ? 0 : schedule.rank_count(), 0),
      large_in_(serial_ ? 0 : schedule.rank_count(), 0),
      kept_(record.kept),
      memory_(schedule, kept_, record.results, record.memory),
      service_(schedule, platform, paths) {
  require_complete(order_, schedule.op_count());
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::fill(times_.begin(), times_.end(),
            sched::OpTimes{kNever, kNever, kNever, kNever, has_regions_ ? 0u : 1u, OpId::none()});
}

template <class Network>
void Execution<Network>::start() {
  for (std::uint32_t node = 0; node < graph_.waiting_for.size(); ++node) {
    if (graph_.waiting_for[node] != 0 || tree_.around(node) != sched::RegionTree::kNone) continue;
    if (tree_.is_region(node)) {
      ended_now_.push_back({OpId(node), Kind::kEnter});
    } else {
      make_ready(OpId(node));
    }
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
    for (std::size_t i = 0; i < dirty_lanes_.size(); ++i) serve(lanes_[dirty_lanes_[i]]);
    dirty_lanes_.clear();
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
  if (event.kind() == Kind::kEnter) return enter(tree_.region_of(id.value));
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
      is_posted(op(id).kind) || op(id).kind == OpKind::kFlush ? issue(id) : done(id);
      break;
    }
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

}  // namespace slackline::machine

#include "machine/execution_bundles.h"
#include "machine/execution_messages.h"
#include "machine/execution_operations.h"
#include "machine/execution_regions.h"
