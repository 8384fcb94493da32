// One run of a schedule on a platform: the rules of docs/architecture.md, "The machine model", as a
// state machine that is told what ends when. What is ready, and who has which lane, is
// machine/run/core.h's; here are the clock, the NICs and the bytes. All simulators
// drive it; they differ in the clock, which says how long a large message takes.
//
// The class has several sources: execution.cc has what events come to and the lanes,
// execution_messages.cc the NICs and ports, execution_bundles.cc what gathers messages,
// execution_completions.cc what sees completions. execution_resumed.cc takes up a run where another
// one stands.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/atomic_service.h"
#include "machine/completions.h"
#include "machine/delays.h"
#include "machine/driven_run.h"
#include "machine/lane.h"
#include "machine/lane_use.h"
#include "machine/meetings.h"
#include "machine/paths.h"
#include "machine/queue_pairs.h"
#include "machine/run/adaptive_ways.h"
#include "machine/run/bundle_delays.h"
#include "machine/run/completion_queues.h"
#include "machine/run/core.h"
#include "machine/run/gathered_messages.h"
#include "machine/run/graph.h"
#include "machine/run/look_ahead.h"
#include "machine/run/operands.h"
#include "machine/run/settling_run.h"
#include "machine/run_memory.h"
#include "machine/setting.h"
#include "machine/word_queues.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// Where a run writes what happens, and the seed of what it draws.
struct RunRecord {
  std::span<sched::OpTimes> times;   // of every operation; infinite where one never came
  std::span<double> request_s;       // Trace::request_s, of request_count() zeros
  std::span<std::uint64_t> results;  // Trace::results, likewise
  std::span<std::byte> memory;       // Trace::memory, zeros: the bytes of…
  sched::KeptMemory kept;            // …the schedule's
  std::uint64_t seed = 0;
  bool cleared = false;  // the times are nothing_yet() already
};

/// Makes room in a trace.
RunRecord record_in(sched::Trace& trace, const sched::Schedule& schedule, std::uint64_t seed);
/// The same where request_count() is known.
RunRecord record_in(sched::Trace& trace, const sched::Schedule& schedule, std::uint64_t seed,
                    std::size_t requests);

class Execution final : public SettlingRun {
 public:
  /// `delays` and `paths` are what comes of the setting's. They, what the setting is of, the clock
  /// and what `record` points to must outlive this. Throws as sched::RegionTree does.
  Execution(const Setting& setting, const Delays& delays, const Paths& paths,
            const RunRecord& record, DrivenClock& clock);
  /// The same where the graph of all of the schedule's operations is there already.
  Execution(const RunGraph& graph, const Setting& setting, const Delays& delays, const Paths& paths,
            const RunRecord& record, DrivenClock& clock);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Time zero: everything without predecessors becomes ready. From then on instant() throws
  /// InputError when a retry has failed for the last time, and when an operand is not there.
  void start() override;

  /// Between two instants, or before the first: as another run of the same schedule is now, with
  /// the same of everything but delays that are still to come. The schedule has no regions and
  /// gathers no messages. What the record points to, and the clock, are for the caller to copy.
  void resume(const Execution& other);
  /// After an instant of both, at the same time: whether the same follows as in another such run,
  /// bit by bit, if the same is pending at the clocks. May say no where it does.
  bool goes_on_as(const Execution& other) const;

  /// Between two instants, or before the first: from now on the rank posts nothing more. What its
  /// NIC was given is carried out, and its posted receives take what comes.
  void stop(sched::RankId rank);

  /// Fair NICs: some port carried two large messages at once.
  bool shared() const { return shared_; }

 private:
  using Op = sched::Op;
  using OpId = sched::OpId;
  using OpKind = sched::OpKind;
  using RankId = sched::RankId;

  // The graph is `shared`, or made if that is null.
  Execution(const RunGraph* shared, const Setting& setting, const Delays& delays,
            const Paths& paths, const RunRecord& record, DrivenClock& clock);

  const Op& op(OpId id) const { return schedule_.op(id); }
  sched::OpTimes& times(OpId id) { return core_.times(id.value); }

  bool has_failed(RankId rank) const { return now_s_ + kInstant_s > paths_.gone_s(rank); }
  PathId path_of(OpId id, bool reply) const { return paths_.of(op(id).channel, reply); }
  const PathInBrief& way_of(OpId id, bool reply) const {
    return paths_.in_brief(path_of(id, reply));
  }

  void handle_all(const std::vector<Event>& events) override;
  void serve_lanes() override;
  void start_message(const PortArbiter::Start& start, bool large) override;
  void handle(Event event);

  // What the core asks: machine/run/core.h.
  friend class RunCore<Execution>;
  double now_s() const { return now_s_; }
  double moment() const { return now_s_; }
  bool is_gone(std::uint32_t o) const {
    return may_be_gone_ && is_gone_or_stopped(op(OpId(o)).rank);
  }
  bool is_gone_or_stopped(RankId rank) const {
    return has_failed(rank) || (!stopped_.empty() && stopped_[rank.value] != 0);
  }
  double post_delay_s(std::uint32_t o) const { return delays_.post_delay_s(OpId(o)); }
  void hold_back(std::uint32_t o, double wait_s) {
    clock_.at(now_s_ + wait_s, {OpId(o), Kind::kHeldBack});
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
  void attempt_begins(std::uint32_t o) {
    if (!replying_.empty()) replying_[o] = 0;
  }
  void room_made(std::uint32_t o) {
    if (bundled_ && bundles_.counts(op(OpId(o)))) done_in_window(OpId(o));
  }
  bool succeeded(std::uint32_t o) const { return operands_.succeeded(o); }
  void all_ended() {}

  void serve(std::uint32_t lane);
  double lane_time_s(OpId id) const {
    const OpKind kind = op(id).kind;
    if (!posts_alike_ || !is_posted(kind)) {
      return machine::lane_time_s(schedule_, platform_, op(id));
    }
    return kind == OpKind::kRecv ? post_receive_s_ : post_s_;
  }
  // Nobody asks, mostly: who does is told from here on.
  bool adds_up() const { return !uses_.empty(); }
  double poll_for_s() const {
    return platform_.poll_for ? sched::seconds(*platform_.poll_for)
                              : std::numeric_limits<double>::infinity();
  }
  void add_turn(OpId id, double hold_s, double switch_s);
  void add_post(std::uint32_t lane, double hold_s, double delay_s, double switch_s);
  void add_look(std::uint32_t lane, double interrupt_s, double look_s, double block_s);
  void add_watching(OpId id, bool begins);
  void ask_for_pair(OpId id);
  void issue(OpId id);
  void done(OpId id);
  void done_at(OpId id, double time_s);

  // execution_bundles.cc
  bool serve_bundle(const Lanes::Waiting& turn);
  void post_bundle(OpId oldest, double wait_s);
  double bundle_post_s(OpId oldest) const;
  double bundle_delay_s(OpId oldest) const;
  void count_completions(OpId oldest);
  void bundle_posted(OpId oldest);
  void gather_or_send(OpId id);
  void bundle_due(sched::ChannelId channel);
  void bundle_old(OpId oldest);
  void done_in_window(OpId id);
  bool is_stale(const Lanes::Waiting& turn) {
    return turn.bundle != 0 && bundles_.open(op(OpId(turn.op)).channel).serial != turn.bundle;
  }

  // execution_completions.cc
  void completed(OpId id);
  void completed_in_bundle(OpId id);
  // All operations whose completion it is that waits by the name of `id`.
  template <class Visit>
  void each_in_completion(OpId id, const Visit& visit) const {
    if (!bundled_) return visit(id);
    const bool received = op(id).kind == OpKind::kRecv;
    for (OpId m = id; m.valid(); m = received ? next_received_[m.value] : behind(m)) {
      visit(m);
    }
  }
  bool serve_completions(std::uint32_t lane);
  bool is_asleep(std::uint32_t lane) const;
  double callbacks_s(const std::vector<OpId>& batch);
  // What passes until that thread of the lane's has the core, which it has from now on.
  double take_core(std::uint32_t lane, bool service) {
    const bool changes = in_service_ && queues_.changes_thread(lane, service);
    return changes ? completions_.switch_s() : 0;
  }
  void seen(OpId first);

  // execution_messages.cc
  void queue_message(OpId id);
  void copy_message(OpId id, bool reply);
  void sent(OpId id);
  void on_its_way(OpId id, PathId way, bool reply);
  void lost(OpId id);
  void leave_ports(OpId id, bool reply);
  void start_empty(OpId id, bool reply);
  void count_large(NicId src, NicId dst);
  void acknowledge(OpId id, double landed_s);
  void send_ack(OpId id);
  void meet(OpId id, double arrival_s);
  void land(OpId receive, OpId source);
  void arrived(OpId id);
  void serve_atomic(OpId id);
  void served(OpId id);

  // Gets and atomics are two messages: an empty request and the reply.
  std::uint64_t message_bytes(OpId id, bool reply) const {
    if (sched::has_reply(op(id).kind)) return reply ? payload_bytes(id) : 0;
    if (reply) return platform_.ack_bytes;
    return bundled_ ? bundles_.bytes(id) : payload_bytes(id);
  }
  // Of an initiator.
  std::uint64_t payload_bytes(OpId id) const {
    return graph_.payload_bytes(core_.node(id.value), id);
  }
  // The other half of a message that is no get or atomic, where the platform has it use ports. It
  // interleaves, whatever its size.
  bool is_ack(OpId id, bool reply) const { return reply && !sched::has_reply(op(id).kind); }
  bool is_large(OpId id, bool reply, std::uint64_t bytes) const {
    return is_large(bytes) && !is_ack(id, reply);
  }
  PortArbiter& ports_of(OpId id, bool reply, std::uint64_t bytes) {
    return is_large(id, reply, bytes) ? large_ : small_;
  }
  // Whether what is under way for the operation is its answer or its ack.
  bool is_reply(OpId id) const { return !replying_.empty() && replying_[id.value] != 0; }
  // In one bundle; they travel as one.
  OpId behind(OpId id) const { return bundled_ ? bundles_.next(id) : OpId::none(); }
  bool is_large(std::uint64_t bytes) const { return bytes > platform_.interleave_bytes; }
  bool is_acknowledged(sched::ChannelId channel) const {
    return acknowledged_ || sched::is_acknowledged(schedule_.channel(channel).service);
  }
  std::pair<RankId, RankId> ends(OpId id, bool reply) const {
    const sched::Channel& channel = schedule_.channel(op(id).channel);
    return reply ? std::pair{channel.dst, channel.src} : std::pair{channel.src, channel.dst};
  }

  // Of switches, which neither keep gaps nor take time to see what has come.
  bool is_switch(RankId rank) const { return rank.value >= first_switch_; }
  // Nor does time pass beside the lane where a service thread sees it: that is its work.
  double complete_s(OpId id) const {
    const bool none = is_switch(op(id).rank) || (in_service_ && completions_.makes_one(id));
    return none ? 0 : o_complete_s_;
  }
  double gap_s(const PathInBrief& way) const {
    const Path& like = paths_[way.like];
    return like.from_switch || like.scale_up ? 0 : gap_s_;
  }

  const sched::Schedule& schedule_;
  const Platform& platform_;
  const Delays& delays_;
  const Paths& paths_;
  const std::span<LaneUse> uses_;  // of every lane; empty if nobody asks

  // The platform's times, in seconds.
  const double o_complete_s_;
  const double gap_s_;
  const double read_s_;
  const double post_s_;
  const double post_receive_s_;
  const bool posts_alike_;            // all posts of messages take post_s_
  const std::uint32_t first_switch_;  // of the ranks; beyond them if none is
  const bool serial_;
  const bool acknowledged_;  // every channel is

  bool may_be_gone_;           // some rank: it fails sometime, or has stopped
  std::vector<char> stopped_;  // of every rank; empty if none has
  std::span<double> request_s_;
  const std::unique_ptr<RunGraph> own_graph_;
  const RunGraph& graph_;
  RunCore<Execution> core_;
  Meetings meetings_;
  const Completions completions_;
  const bool sees_;        // completions take lanes
  const bool sleeps_;      // after poll_for
  const bool in_service_;  // they are seen by a thread of its own
  CompletionQueues queues_;
  GatheredMessages bundles_;
  const bool bundled_;
  const BundleDelays bundle_delays_;  // of what channels gather; delays_ has that of the others
  // Of bundles that are seen, by operation: of a bundle's oldest, how many of its completions are
  // still to come, and the first and the last receive of one that waits for a look; of a receive,
  // its bundle's oldest, and the next that is seen with it.
  std::vector<std::uint32_t> unacknowledged_;
  std::vector<OpId> first_received_;
  std::vector<OpId> last_received_;
  std::vector<OpId> bundle_of_receive_;
  std::vector<OpId> next_received_;
  // Get, atomics: the answer is under way; others: the ack. Empty if there is nothing of the kind.
  std::vector<char> replying_;
  std::vector<double> ack_start_s_;  // of every operation; empty if acks use no ports
  const LookAhead<RunCore<Execution>> ahead_;
  std::vector<std::uint32_t> large_out_;  // fair: large messages on each port
  std::vector<std::uint32_t> large_in_;
  const sched::KeptMemory kept_;
  Operands operands_;
  RunMemory memory_;
  QueuePairLocks locks_;
  WordQueues words_;
  AtomicService service_;
  const bool adaptive_;  // ways go by load
  AdaptiveWays ways_;
  bool shared_ = false;
};

}  // namespace slackline::machine
