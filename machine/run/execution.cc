#include "machine/run/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "machine/congestion.h"
#include "machine/run/executable.h"

namespace slackline::machine {

RunRecord record_in(sched::Trace& trace, const sched::Schedule& schedule, std::uint64_t seed) {
  return record_in(trace, schedule, seed, request_count(schedule));
}

RunRecord record_in(sched::Trace& trace, const sched::Schedule& schedule, std::uint64_t seed,
                    std::size_t requests) {
  trace.ops.assign(schedule.op_count(), nothing_yet(!schedule.regions().empty()));
  trace.request_s.resize(requests);
  trace.results.resize(trace.request_s.size());
  // Without atomics and arguments nothing is kept, and there is nothing to look for.
  const bool plain = trace.request_s.empty() && schedule.argument_table().empty();
  sched::KeptMemory kept = plain ? sched::KeptMemory() : sched::KeptMemory(schedule);
  trace.memory.assign(kept.bytes(), std::byte{0});
  trace.seed = seed;
  return {trace.ops, trace.request_s, trace.results, trace.memory, std::move(kept), seed, true};
}

Execution::Execution(const Setting& setting, const Delays& delays, const Paths& paths,
                     const RunRecord& record, DrivenClock& clock)
    : Execution(nullptr, setting, delays, paths, record, clock) {}

Execution::Execution(const RunGraph& graph, const Setting& setting, const Delays& delays,
                     const Paths& paths, const RunRecord& record, DrivenClock& clock)
    : Execution(&graph, setting, delays, paths, record, clock) {}

Execution::Execution(const RunGraph* shared, const Setting& setting, const Delays& delays,
                     const Paths& paths, const RunRecord& record, DrivenClock& clock)
    : SettlingRun(clock, paths.nic_count(), setting.watch),
      schedule_(setting.schedule),
      platform_(setting.platform),
      delays_(delays),
      paths_(paths),
      uses_(setting.uses),
      o_complete_s_(sched::seconds(setting.platform.o_complete)),
      gap_s_(sched::seconds(setting.platform.gap)),
      read_s_(read_s(setting.platform, false)),
      post_s_(sched::seconds(setting.platform.o_post)),
      post_receive_s_(sched::seconds(setting.platform.post_of_receive())),
      posts_alike_(!platform_.switches.any() && platform_.node.post_more_s() == 0),
      first_switch_(schedule_.rank_count() - platform_.switches.count()),
      serial_(setting.platform.nic == NicDiscipline::kSerial),
      acknowledged_(std::ranges::all_of(
          schedule_.channels(),
          [](const sched::Channel& channel) { return sched::is_acknowledged(channel.service); })),
      may_be_gone_(paths.may_fail()),
      request_s_(record.request_s),
      own_graph_(shared != nullptr
                     ? nullptr
                     : std::make_unique<RunGraph>(schedule_, sched::OpRange::of_all(schedule_))),
      graph_(shared != nullptr ? *shared : *own_graph_),
      core_(*this, graph_, record.times, setting.order, platform_.interleave_bytes, record.seed),
      meetings_(schedule_, graph_.tree()),
      completions_(schedule_, platform_, setting.order),
      sees_(completions_.any() && completions_.are_seen()),
      sleeps_(completions_.any() && completions_.programs_sleep()),
      in_service_(completions_.any() && completions_.is_in_service()),
      queues_(sees_ ? core_.lanes().count() : 0,
              sees_ ? completions_.receives_of_messages() : std::vector<std::uint32_t>{}),
      bundles_(schedule_),
      bundled_(bundles_.any()),
      bundle_delays_(bundled_ ? setting.delays : kNoDelays, schedule_, platform_),
      unacknowledged_(bundled_ && sees_ ? schedule_.op_count() : 0, 0),
      first_received_(unacknowledged_.size()),
      last_received_(unacknowledged_.size()),
      bundle_of_receive_(unacknowledged_.size()),
      next_received_(unacknowledged_.size()),
      replying_(platform_.ack_bytes != 0 || !request_s_.empty() ? schedule_.op_count() : 0, 0),
      ack_start_s_(platform_.ack_bytes != 0 ? schedule_.op_count() : 0, 0),
      ahead_(schedule_, paths, core_, large_, small_, record.kept.bytes() != 0),
      large_out_(serial_ ? 0 : paths.nic_count(), 0),
      large_in_(serial_ ? 0 : paths.nic_count(), 0),
      kept_(record.kept),
      operands_(schedule_, graph_.range(), record.times, record.results),
      memory_(schedule_, kept_, operands_, record.memory),
      locks_(schedule_, platform_, paths),
      service_(schedule_, platform_, paths),
      adaptive_(paths.is_adaptive()),
      ways_(paths, adaptive_ ? schedule_.op_count() : 0) {
  if (const auto why = why_no_congestion(platform_); why && !clock.has_queues()) {
    throw Unsupported(*why);
  }
  if (bundled_) require_no_switches(platform_, "a channel that gathers messages");
  for (std::size_t c = 0; bundled_ && c < schedule_.channels().size(); ++c) {
    if (schedule_.channels()[c].bundle == sched::Bundle::kNone) continue;
    if (platform_.ack_bytes != 0) {
      throw Unsupported(fmt::format(
          "channel {} gathers messages, which share an acknowledgement; expected none on a "
          "platform with ack",
          c));
    }
    if (locks_.any()) {
      throw Unsupported(fmt::format(
          "channel {} gathers messages, which are posted together; expected none on a platform "
          "with qp_lock",
          c));
    }
  }
  if (!record.cleared) core_.clear_times();
  const auto nodes = graph_.nodes();
  const bool only_run = own_graph_ && !core_.has_regions();
  core_.reset_all_but_times(only_run ? own_graph_->give_nodes()
                                     : std::vector(nodes.begin(), nodes.end()));
}

void Execution::start() {
  core_.start();
  settle();
}

void Execution::stop(RankId rank) {
  stopped_.resize(schedule_.rank_count(), 0);
  stopped_[rank.value] = 1;
  may_be_gone_ = true;
}

void Execution::handle_all(const std::vector<Event>& events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    ahead_.look(events, i);
    handle(events[i]);
  }
}

void Execution::serve_lanes() {
  std::vector<std::uint32_t>& touched = core_.lanes().touched();
  for (std::size_t i = 0; i < touched.size(); ++i) {
    core_.lanes().untouch(touched[i]);
    if (!core_.lanes().is_held(touched[i])) serve(touched[i]);
  }
  touched.clear();
}

// Inlined, as serve() is: they are called for every event from one place.
[[gnu::always_inline]] inline void Execution::handle(Event event) {
  const OpId id = event.op();
  if (may_be_gone_ && event.is_local() && is_gone_or_stopped(op(id).rank)) return;
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
      ports_of(id, true, message_bytes(id, true)).free_out(now_s_, way_of(id, true).src_nic);
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
    case Kind::kAcknowledged:
      send_ack(id);
      break;
    case Kind::kDone:
      done(id);
      break;
    case Kind::kCompleted:
      completed(id);
      break;
    case Kind::kSeen:
      seen(id);
      break;
    case Kind::kAtPair:
      ask_for_pair(id);
      break;
    case Kind::kEnter:  // names a region's node
      core_.enter(core_.tree().region_of(id.value));
      break;
  }
}

// The lane is free. One operation at a time, also when it takes no time: what it releases may come
// before the rest.
[[gnu::always_inline]] inline void Execution::serve(std::uint32_t lane) {
  Lanes& lanes = core_.lanes();
  if (sees_ && serve_completions(lane)) return;
  const std::optional<Lanes::Waiting> turn =
      core_.next_turn(lane, [this](const Lanes::Waiting& next) { return is_stale(next); });
  if (!turn || (bundled_ && serve_bundle(*turn))) return;
  const OpId id(turn->op);
  const double switch_s = take_core(lane, false);
  double hold_s = lane_time_s(id) + delays_.lane_delay_s(id) + switch_s;
  if (completions_.any() && !is_switch(op(id).rank)) hold_s += completions_.signal_s(id);
  if (adds_up()) add_turn(id, hold_s, switch_s);
  if (!is_posted(op(id).kind)) issue(id);
  lanes.hold(lane, id.value, hold_s > 0);
  if (locks_.locks(op(id))) {
    end_at(now_s_ + (hold_s - locks_.lock_s()), {id, Kind::kAtPair});
  } else if (hold_s > 0) {
    clock_.at(now_s_ + hold_s, {id, Kind::kLaneEnd});
  } else {
    ended_now_.push_back({id, Kind::kLaneEnd});
  }
}

// Its post has come to where it needs the queue pair: its lane waits, and takes the rest.
void Execution::ask_for_pair(OpId id) {
  const QueuePairLocks::Turn turn = locks_.ask(id, op(id), now_s_);
  if (turn.behind.valid()) {
    times(id).cause = turn.behind;
    if (adds_up()) {
      LaneUse& use = uses_[core_.lanes().lane_of(id.value)];
      use.hold(now_s_, turn.end_s - now_s_, poll_for_s());
      use.post_s += turn.wait_s;
    }
  }
  clock_.at(turn.end_s, {id, Kind::kLaneEnd});
}

void Execution::issue(OpId id) {
  const Op& o = op(id);
  sched::OpTimes& t = times(id);
  core_.issued(id.value);
  switch (o.kind) {
    case OpKind::kRecv:
    case OpKind::kPoll:
      if (sleeps_ && o.kind == OpKind::kPoll) {
        queues_.begin_watching(core_.lanes().lane_of(id.value));
      }
      if (adds_up() && o.kind == OpKind::kPoll) add_watching(id, true);
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
      if (core_.node(id.value).has_operands) operands_.read(id.value, now_s_);
      meetings_.initiated(id);
      if (bundled_ && bundles_.concern(o)) return gather_or_send(id);
      queue_message(id);
  }
}

void Execution::done(OpId id) {
  const OpKind kind = op(id).kind;
  if ((kind == OpKind::kCopy || kind == OpKind::kReduce) && memory_.moves(id)) memory_.move(id);
  if (sleeps_ && kind == OpKind::kPoll)
    queues_.end_watching(core_.lanes().lane_of(id.value), now_s_);
  if (adds_up() && kind == OpKind::kPoll) add_watching(id, false);
  core_.done(id.value);
}

// What an operation's turn takes of its lane, which it begins now.
void Execution::add_turn(OpId id, double hold_s, double switch_s) {
  const std::uint32_t lane = core_.lanes().lane_of(id.value);
  const double delay_s = delays_.lane_delay_s(id);
  if (is_posted(op(id).kind)) return add_post(lane, hold_s, delay_s, switch_s);
  uses_[lane].hold(now_s_, hold_s, poll_for_s());
  uses_[lane].work_s += hold_s - delay_s - switch_s;
  uses_[lane].interrupt_s += switch_s;
  uses_[lane].delay_s += delay_s;
}

void Execution::add_post(std::uint32_t lane, double hold_s, double delay_s, double switch_s) {
  uses_[lane].hold(now_s_, hold_s, poll_for_s());
  uses_[lane].post_s += hold_s - delay_s - switch_s;
  uses_[lane].interrupt_s += switch_s;
  uses_[lane].delay_s += delay_s;
}

void Execution::add_watching(OpId id, bool begins) {
  LaneUse& use = uses_[core_.lanes().lane_of(id.value)];
  if (begins) return use.begin_watching(now_s_, poll_for_s());
  use.end_watching(now_s_, poll_for_s());
  use.hold(now_s_, 0, poll_for_s());  // it has had something to do until now
}

// What nothing waits for needs no event.
void Execution::done_at(OpId id, double time_s) {
  if (paths_.may_fail() && time_s + kInstant_s > paths_.gone_s(op(id).rank)) return;
  if (sees_ && completions_.makes_one(id) && !is_switch(op(id).rank)) {
    return end_at(time_s, {id, Kind::kCompleted});
  }
  const bool told = core_.is_awaited(id.value) || (bundled_ && bundles_.counts(op(id))) ||
                    ((sleeps_ || adds_up()) && op(id).kind == OpKind::kPoll);
  if (!told) {
    times(id).done_s = time_s;
  } else {
    end_at(time_s, {id, Kind::kDone});
  }
}

}  // namespace slackline::machine
