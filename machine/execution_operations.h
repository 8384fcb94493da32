// The part of machine/execution.h that carries out operations on their rank: ready, on a lane,
// issued, done. Included there, and nowhere else.
#pragma once

#include "machine/execution.h"

namespace slackline::machine {

template <class Network>
void Execution<Network>::release(std::uint32_t node, OpId cause) {
  if (--graph_.waiting_for[node] != 0) return;
  if (tree_.is_region(node)) {
    regions_.release(tree_.region_of(node), cause);
    ended_now_.push_back({OpId(node), Kind::kEnter});
    return;
  }
  times(OpId(node)).cause = cause;
  make_ready(OpId(node));
}

template <class Network>
void Execution<Network>::make_ready(OpId id) {
  if (paths_.may_fail() && is_gone(op(id).rank)) return;
  times(id).ready_s = now_s_;
  if (has_regions_ && ++times(id).attempts == 0) {
    throw Unsupported(
        fmt::format("{} runs 2^32 times or more; expected less", sched::describe(schedule_, id)));
  }
  const double delay_s = delays_.post_delay_s(id);
  if (delay_s > 0) {
    network_.at(now_s_ + delay_s, {id, Kind::kHeldBack});
  } else {
    offer(id);
  }
}

template <class Network>
void Execution<Network>::offer(OpId id) {
  if (!holds_lane(op(id).kind) && !(bundled_ && bundles_.concern(op(id)))) {
    ended_now_.push_back({id, Kind::kIssue});
    return;
  }
  to_lane({place_of(id), id, 0, now_s_});
}

template <class Network>
void Execution<Network>::to_lane(const Waiting& waiting) {
  const std::uint32_t index = lane_index_.of(waiting.op, op(waiting.op));
  Lane& lane = lanes_[index];
  lane.ready.push(waiting);
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
         is_large(schedule_.payload_bytes(op(id))) && !(bundled_ && bundles_.concern(op(id)));
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
  bounded_[rank].push(waiting);
  return true;
}

// One operation at a time, also when it takes no time: what it releases may come before the rest.
template <class Network>
void Execution<Network>::serve(Lane& lane) {
  lane.dirty = false;
  Waiting next;
  do {
    if (lane.busy || lane.ready.empty()) return;
    next = lane.ready.pop();
  } while (is_stale(next) || hold_back(next));
  const OpId id = next.op;
  sched::OpTimes& t = times(id);
  if (bundled_ && serve_bundle(lane, next)) return;
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
  const OpId next = graph_.next_on_channel[id.value];
  if (next.valid()) release(next.value, id);
  for (std::uint32_t i = graph_.out_begin[id.value]; i < graph_.out_begin[id.value + 1]; ++i) {
    if (!graph_.out[i].on_done) release(graph_.out[i].succ, id);
  }
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
        memory_.post(id, times_, now_s_);
      }
      meetings_.initiated(id);
      if (bundled_ && bundles_.concern(o)) return gather_or_send(id);
      queue_message(id);
  }
}

template <class Network>
void Execution<Network>::done(OpId id) {
  times(id).done_s = now_s_;
  const OpKind kind = op(id).kind;
  if ((kind == OpKind::kCopy || kind == OpKind::kReduce) && memory_.moves(id)) memory_.move(id);
  if (is_bounded(id)) {
    const std::uint32_t rank = op(id).rank.value;
    --in_flight_[rank];
    if (!bounded_[rank].empty()) {
      Waiting next = bounded_[rank].pop();
      next.offered_s = now_s_;
      times(next.op).cause = id;
      to_lane(next);
    }
  }
  if (bundled_ && bundles_.counts(op(id))) done_in_window(id);
  for (std::uint32_t i = graph_.out_begin[id.value]; i < graph_.out_begin[id.value + 1]; ++i) {
    if (graph_.out[i].on_done) release(graph_.out[i].succ, id);
  }
  if (!has_regions_) return;
  if (sched::has_reply(kind) && !memory_.succeeded(id)) regions_.fail(id);
  const std::uint32_t around = tree_.around(id.value);
  if (around != sched::RegionTree::kNone) ended_within(around, id);
}

// What nothing waits for needs no event.
template <class Network>
void Execution<Network>::done_at(OpId id, double time_s) {
  if (paths_.may_fail() && time_s + kInstant_s > paths_.gone_s(op(id).rank)) return;
  const bool awaited = graph_.out_begin[id.value] != graph_.out_begin[id.value + 1];
  if (!awaited && !is_bounded(id) && !has_regions_ && !(bundled_ && bundles_.counts(op(id)))) {
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
