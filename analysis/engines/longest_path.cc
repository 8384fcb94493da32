#include "analysis/engines/longest_path.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "analysis/engines/link_load.h"
#include "machine/completions.h"
#include "machine/delays.h"
#include "machine/event_queue.h"
#include "machine/lane.h"
#include "machine/run/executable.h"
#include "machine/run/lanes.h"

namespace slackline::analysis {
namespace {

using machine::kInstant_s;
using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::OpTimes;
using sched::RankId;

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Interval {
  double begin_s;
  double end_s;
  OpId op;
};

// How this engine works, and what "late" is.
//
// Times are the longest path (Kelley, "Critical-path planning and scheduling: mathematical basis",
// Operations Research 9(3), 1961) along the schedule's arcs and along the orders in which lanes,
// out-ports and in-ports serve. The arcs are given, the orders are assumed: each lane and each
// out-port serves in program order, and no two messages meet at an in-port. So one pass suffices
// that takes each rank's operations in program order, until one waits for another rank. Of a lane
// or a port it keeps only what says when it is free. The same pass checks the assumption: where a
// server is idle because the next operation of program order is not there yet, and a later one is,
// the machine serves that one, and there is no answer.
//
// The offers' times decide that unless they are of one instant. An instant goes in rounds
// (docs/architecture.md, "Instants"): what ends is carried out, then each free lane takes an
// operation, and so on; what starts and takes no time ends in the same instant, and what it
// releases is there for the next round only. In one round the lowest id goes first, which is
// program order. But an operation of a higher id that is there a round earlier goes before it. An
// event is *late* if in its instant something had to start before it, so that it may be of any
// round but the first; an operation is late if a late event made it ready. Where a server has
// served a late operation, and one of higher id is offered to it in that instant, the rounds would
// have to be counted, as the event engine does (unless both take no time: then their order does not
// matter). This one gives no answer instead, so that its answers are exact.

// A serial server that is assumed to serve operations in the order in which they are shown.
struct Server {
  double free_s = 0;
  double last_wait_over_s = 0;  // when it last began after having been idle
  double last_join_s = 0;
  double last_instant_s = 0;  // when it last served something that takes no time
  // When it last served a late operation: one that takes time, one that takes none.
  double late_s = -1;
  double late_instant_s = -1;
  OpId last;
};

// Which events of an operation are late.
constexpr int kIssuedLate = 1;
constexpr int kDoneLate = 2;

class Pass {
 public:
  Pass(const sched::Schedule& schedule, const machine::Platform& platform,
       const machine::Delays& delays, const machine::Paths& paths)
      : schedule_(schedule),
        platform_(platform),
        delays_(delays),
        paths_(paths),
        o_post_s_(sched::seconds(platform.o_post)),
        o_complete_s_(sched::seconds(platform.o_complete)),
        gap_s_(sched::seconds(platform.gap)),
        serial_(platform.nic == machine::NicDiscipline::kSerial),
        times_(schedule.op_count(), {kNever, kNever, kNever, kNever, 1, OpId::none()}),
        sent_s_(schedule.op_count(), kNever),
        previous_(sched_previous(schedule)),
        lane_index_(schedule),
        lanes_(lane_index_.count()),
        out_(2 * schedule.rank_count()),
        next_(schedule.rank_count()),
        queued_(schedule.rank_count(), 1) {}

  // False if an assumption fails.
  bool run() {
    std::vector<std::uint32_t> work;
    for (std::uint32_t r = schedule_.rank_count(); r-- > 0;) {
      next_[r] = schedule_.first_op(RankId(r));
      work.push_back(r);
    }
    work_ = std::move(work);
    while (!work_.empty()) {
      const std::uint32_t rank = work_.back();
      work_.pop_back();
      queued_[rank] = 0;
      if (!advance(RankId(rank))) return false;
    }
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) {
      if (next_[r] != schedule_.end_op(RankId(r))) return false;
    }
    for (const OpTimes& t : times_) {
      if (t.done_s == kNever) return false;
    }
    return ports_agree();
  }

  bool contended() const { return contended_; }
  std::vector<OpTimes> take_times() { return std::move(times_); }

 private:
  static std::vector<OpId> sched_previous(const sched::Schedule& schedule) {
    std::vector<OpId> previous(schedule.op_count());
    std::vector<OpId> last(2 * schedule.channels().size());
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const Op& op = schedule.ops()[i];
      if (!sched::has_channel(op.kind)) continue;
      OpId& slot = last[2 * op.channel.value + (op.kind == OpKind::kRecv ? 1 : 0)];
      previous[i] = slot;
      slot = OpId(i);
    }
    return previous;
  }

  // Takes the rank's operations in program order until one waits for another rank.
  bool advance(RankId rank) {
    OpId& id = next_[rank.value];
    for (; id < schedule_.end_op(rank); ++id.value) {
      double ready_s = 0;
      OpId cause;
      bool late = false;
      const auto after = [&](double time_s, OpId pred, int event) {
        const bool pred_late = is_late(pred, event);
        late = time_s < ready_s + kInstant_s ? late || (pred_late && time_s + kInstant_s > ready_s)
                                             : pred_late;
        if (time_s > ready_s || !cause.valid()) {
          ready_s = std::max(ready_s, time_s);
          cause = pred;
        }
      };
      for (const sched::Edge& edge : schedule_.edges_into(id)) {
        const OpTimes& pred = times_[edge.pred.value];
        const double time_s = edge.on == sched::On::kDone ? pred.done_s : pred.issued_s;
        if (time_s == kNever) {
          // A later operation of this rank never comes first; anything else will wake us.
          return edge.pred < id;
        }
        after(time_s, edge.pred, edge.on == sched::On::kDone ? kDoneLate : kIssuedLate);
      }
      if (previous_[id.value].valid()) {
        after(times_[previous_[id.value].value].issued_s, previous_[id.value], kIssuedLate);
      }
      if (!take(id, ready_s, cause, late)) return false;
    }
    return true;
  }

  bool take(OpId id, double ready_s, OpId cause, bool late) {
    const Op& op = schedule_.op(id);
    OpTimes& t = times_[id.value];
    t.ready_s = ready_s;
    t.cause = cause;
    const double delay_s = delays_.post_delay_s(id);
    const double offered_s = ready_s + delay_s;
    late = late && delay_s == 0;
    if (late) set_late(id, kIssuedLate | kDoneLate);
    switch (op.kind) {
      case OpKind::kJoin:
      case OpKind::kFlush:
        t.issued_s = t.wire_s = t.done_s = offered_s;
        return true;
      case OpKind::kDelay:
        t.issued_s = t.wire_s = offered_s;
        t.done_s = offered_s + sched::seconds(schedule_.arguments(op).duration);
        if (late && t.done_s > offered_s) set_late(id, kIssuedLate);
        return true;
      case OpKind::kPoll:
        t.issued_s = offered_s;
        meet(id);
        return true;
      case OpKind::kCalc:
      case OpKind::kCopy:
      case OpKind::kReduce:
        return hold_lane(id, offered_s, late,
                         machine::lane_time_s(schedule_, platform_, op) + delays_.lane_delay_s(id));
      case OpKind::kRecv:
        if (!post(id, offered_s, late)) return false;
        meet(id);
        return true;
      case OpKind::kSend:
      case OpKind::kPut:
        return post(id, offered_s, late) && send(id, late);
      default:
        return false;  // gets and atomics
    }
  }

  // The lane takes its operations in program order; `lane_begin_s` is when it turns to this one.
  // False if it would have taken this one before an earlier one.
  bool take_lane(OpId id, double offered_s, bool late, double hold_s, double& lane_begin_s) {
    Server& lane = lanes_[lane_index_.of(id.value, schedule_.op(id))];
    if (offered_s + kInstant_s < lane.last_wait_over_s) return false;
    if (offered_s < lane.late_s + kInstant_s) return false;
    lane_begin_s = offered_s;
    if (lane.free_s > offered_s) {
      lane_begin_s = lane.free_s;
      times_[id.value].cause = lane.last;
    }
    late = late && lane_begin_s < offered_s + kInstant_s;
    if (hold_s == 0) {
      lane.last_instant_s = std::max(lane.last_instant_s, lane_begin_s);
      if (late) lane.late_instant_s = lane_begin_s;
      return true;
    }
    // It would have held the lane when an earlier operation, which needs no time, wanted it.
    if (offered_s + kInstant_s < lane.last_instant_s) return false;
    if (offered_s < lane.late_instant_s + kInstant_s) return false;
    if (offered_s >= lane.free_s + kInstant_s) lane.last_wait_over_s = offered_s;
    if (late) lane.late_s = lane_begin_s;
    lane.free_s = lane_begin_s + hold_s;
    lane.last = id;
    return true;
  }

  bool hold_lane(OpId id, double offered_s, bool late, double hold_s) {
    OpTimes& t = times_[id.value];
    if (!take_lane(id, offered_s, late, hold_s, t.issued_s)) return false;
    t.wire_s = t.issued_s;
    t.done_s = t.issued_s + hold_s;
    set_late(id, hold_s > 0 ? kIssuedLate : kIssuedLate | kDoneLate);
    return true;
  }

  bool post(OpId id, double offered_s, bool late) {
    const double hold_s = o_post_s_ + delays_.lane_delay_s(id);
    double lane_begin_s = 0;
    if (!take_lane(id, offered_s, late, hold_s, lane_begin_s)) return false;
    times_[id.value].issued_s = lane_begin_s + hold_s;
    if (late || hold_s == 0) set_late(id, hold_s > 0 ? 0 : kIssuedLate);
    return true;
  }

  bool send(OpId id, bool late) {
    const Op& op = schedule_.op(id);
    OpTimes& t = times_[id.value];
    const machine::PathId path = paths_.of(op.channel, false);
    const std::uint64_t bytes = schedule_.payload_bytes(op);
    const bool large = bytes > platform_.interleave_bytes;
    Server& port = out_[2 * op.rank.value + (large ? 0 : 1)];
    if (t.issued_s + kInstant_s < port.last_join_s) return false;
    if (t.issued_s < port.late_s + kInstant_s) return false;
    const bool holds = gap_s_ > 0 || (serial_ && bytes != 0);
    if (holds) {
      if (t.issued_s + kInstant_s < port.last_instant_s) return false;
      if (t.issued_s < port.late_instant_s + kInstant_s) return false;
    }
    // Posted late in its instant, or by one of several lanes that take turns in it.
    const bool posted_late = is_late(id, kIssuedLate) && (late || lane_index_.several());
    t.wire_s = t.issued_s;
    if (port.free_s > t.issued_s) {
      t.wire_s = port.free_s;
      t.cause = port.last;
    }
    sent_s_[id.value] = paths_.sent_s(t.wire_s, path, bytes);
    if (holds) {
      port.last_join_s = t.issued_s;
      port.free_s = std::max(t.wire_s + gap_s_, serial_ ? sent_s_[id.value] : t.wire_s);
      port.last = id;
    } else {
      port.last_instant_s = std::max(port.last_instant_s, t.wire_s);
    }
    if (posted_late) (holds ? port.late_s : port.late_instant_s) = t.issued_s;
    small_take_time_ = small_take_time_ || (!large && bytes != 0);
    const double arrival_s = sent_s_[id.value] + paths_[path].latency_s;
    if (!sched::is_acknowledged(schedule_.channel(op.channel).service)) {
      t.done_s = sent_s_[id.value] + o_complete_s_;
      if (t.done_s == t.wire_s) add_late(id, kDoneLate);
    } else if (!sched::is_fifo_source(op)) {
      t.done_s = arrival_s + back_latency_s(op) + o_complete_s_;
      if (t.done_s == t.wire_s) add_late(id, kDoneLate);
    }
    if (op.match.valid()) {
      times_[op.match.value].wire_s = arrival_s;
      meet(op.match);
    }
    return true;
  }

  // A message and its receive: whoever is known last settles both.
  void meet(OpId receive) {
    OpTimes& t = times_[receive.value];
    if (t.wire_s == kNever || t.issued_s == kNever) return;
    const Op& op = schedule_.op(receive);
    const bool message_last = t.wire_s >= t.issued_s;
    const double landed_s = message_last ? t.wire_s : t.issued_s;
    if (message_last) t.cause = op.match;
    t.done_s = landed_s + o_complete_s_;
    wake(op.rank);
    const Op& source = schedule_.op(op.match);
    // Late, if it came in the instant that its message left in, or that its receive was issued in.
    const bool late =
        message_last ? landed_s == times_[op.match.value].wire_s : is_late(receive, kIssuedLate);
    if (late && t.done_s == landed_s) add_late(receive, kDoneLate);
    if (op.kind == OpKind::kRecv &&
        sched::is_acknowledged(schedule_.channel(source.channel).service)) {
      OpTimes& s = times_[op.match.value];
      if (!message_last) s.cause = receive;
      s.done_s = landed_s + back_latency_s(source) + o_complete_s_;
      if (late && s.done_s == landed_s) add_late(op.match, kDoneLate);
      wake(source.rank);
    }
  }

  double back_latency_s(const Op& source) const {
    return paths_[paths_.of(source.channel, true)].latency_s;
  }

  bool is_late(OpId id, int event) const {
    return !late_.empty() && (late_[id.value] & event) != 0;
  }
  void set_late(OpId id, int events) {
    if (late_.empty()) late_.resize(schedule_.op_count(), 0);
    late_[id.value] = static_cast<char>(events);
  }
  void add_late(OpId id, int event) { set_late(id, event | (late_.empty() ? 0 : late_[id.value])); }

  void wake(RankId rank) {
    if (queued_[rank.value] != 0) return;
    queued_[rank.value] = 1;
    work_.push_back(rank.value);
  }

  // Messages of either class at the ports, which must not have met.
  bool ports_agree() {
    std::vector<std::vector<Interval>> in(2 * schedule_.rank_count());
    std::vector<std::vector<Interval>> out(serial_ ? 0 : schedule_.rank_count());
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      const Op& op = schedule_.ops()[i];
      if (op.kind != OpKind::kSend && op.kind != OpKind::kPut) continue;
      const Interval interval{times_[i].wire_s, sent_s_[i], OpId(i)};
      const bool large = schedule_.payload_bytes(op) > platform_.interleave_bytes;
      if (large ? interval.end_s <= interval.begin_s : !(serial_ && small_take_time_)) continue;
      in[2 * schedule_.channel(op.channel).dst.value + (large ? 0 : 1)].push_back(interval);
      if (!serial_) out[op.rank.value].push_back(interval);
    }
    bool met = false;
    for (auto* ports : {&in, &out}) {
      for (auto& port : *ports) met = met || overlap(port);
    }
    contended_ = met && !serial_;
    return !met || !serial_;
  }

  bool overlap(std::vector<Interval>& intervals) const {
    const auto earlier = [](const Interval& a, const Interval& b) {
      return a.begin_s != b.begin_s ? a.begin_s < b.begin_s : a.op < b.op;
    };
    if (!std::is_sorted(intervals.begin(), intervals.end(), earlier)) {
      std::sort(intervals.begin(), intervals.end(), earlier);
    }
    for (std::size_t i = 1; i < intervals.size(); ++i) {
      const Interval& before = intervals[i - 1];
      const Interval& after = intervals[i];
      if (after.begin_s + kInstant_s <= before.end_s) return true;
      // In one instant the lower operation goes first, unless it came late.
      const bool tie = after.begin_s < before.begin_s + kInstant_s && after.end_s > before.end_s;
      if (tie && !late_.empty()) return true;
    }
    return false;
  }

  const sched::Schedule& schedule_;
  const machine::Platform& platform_;
  const machine::Delays& delays_;
  const machine::Paths& paths_;
  const double o_post_s_;
  const double o_complete_s_;
  const double gap_s_;
  const bool serial_;
  std::vector<OpTimes> times_;
  std::vector<double> sent_s_;
  std::vector<char> late_;      // empty until an event is
  std::vector<OpId> previous_;  // on the same side of the same channel
  machine::LaneIndex lane_index_;
  std::vector<Server> lanes_;
  std::vector<Server> out_;  // large and small messages of every rank
  std::vector<OpId> next_;   // of every rank, the next operation of its program
  std::vector<char> queued_;
  std::vector<std::uint32_t> work_;
  bool small_take_time_ = false;  // else small messages never keep an in-port
  bool contended_ = false;
};

}  // namespace

std::optional<sched::Trace> longest_path(const machine::Setting& setting) {
  sched::require_static(setting.schedule, "the longest path");
  machine::require_executable(setting.schedule);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  if (paths.may_fail() || setting.platform.node.has_local_messages() ||
      setting.platform.node.rails.are_several() || setting.platform.switches.any() ||
      paths.is_adaptive() || setting.platform.congestion.any() ||
      setting.platform.node.qp_lock.count() > 0) {
    return std::nullopt;
  }
  if (!setting.uses.empty() || setting.platform.ack_bytes != 0 ||
      machine::completions_cost(setting.platform) ||
      setting.platform.post_of_receive() != setting.platform.o_post) {
    return std::nullopt;
  }
  Pass pass(setting.schedule, setting.platform, delays, paths);
  if (!pass.run()) return std::nullopt;
  sched::Trace trace = machine::trace_of(setting, "longest-path");
  trace.ops = pass.take_times();
  trace.contended = shares(setting, paths, trace, pass.contended());
  return trace;
}

}  // namespace slackline::analysis
