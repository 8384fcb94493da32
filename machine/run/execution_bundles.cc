// The part of machine/run/execution.h that gathers messages into bundles and posts them.
//
// A send or put is gathered by holding its lane for the copy, and is issued then. The bundle is
// posted, for o_post and one signal if it has a completion, by whoever fills it, as the rest of its
// own turn; by a flush; before a get or an atomic, by that; and, when it is old enough or the
// window has room, by the lane of its oldest message, in that message's place among what waits for
// the lane.
#include "machine/run/execution.h"

namespace slackline::machine {

// Answers whether it has taken care of the turn.
bool Execution::serve_bundle(const Lanes::Waiting& turn) {
  const OpId id(turn.op);
  const Op& o = op(id);
  Lanes& lanes = core_.lanes();
  if (turn.bundle != 0) {
    const std::uint32_t lane = lanes.lane_of(id.value);
    const OpId oldest = bundles_.take(o.channel, lane);
    const double switch_s = take_core(lane, false);
    if (adds_up()) {
      add_post(lane, bundle_post_s(oldest) + switch_s, bundle_delay_s(oldest), switch_s);
    }
    lanes.hold(id.value, true);
    post_bundle(oldest, switch_s);
    return true;
  }
  if (!bundles_.concern(o)) return false;
  const double switch_s = take_core(lanes.lane_of(id.value), false);
  const bool posts = o.kind != OpKind::kFlush;
  const double post_s = posts ? post_time_s(schedule_, platform_, o) : 0;
  const double slower_s = posts ? bundle_delays_.post_s(o.channel) : 0;  // in its lane delay
  double delay_s = delays_.lane_delay_s(id);
  double hold_s = delay_s + switch_s;
  if (bundles_.decide(id)) {
    const double copy_s = platform_.copy_s(schedule_.payload_bytes(o));
    const double more_s = bundle_delays_.copied_s(id);
    delay_s += more_s;
    hold_s += copy_s + more_s;
  } else if (!posts) {
    const OpId taken = bundles_.take(o.channel, GatheredMessages::kNone);
    bundles_.keep(id, taken);
    if (taken.valid()) {
      delay_s += bundle_delay_s(taken);
      hold_s += bundle_post_s(taken);
    }
  } else {
    const OpId ahead = bundles_.take(o.channel, GatheredMessages::kNone);
    if (ahead.valid()) {
      post_bundle(ahead, hold_s - slower_s);
      delay_s += bundle_delay_s(ahead);
      hold_s += bundle_post_s(ahead);
    }
    hold_s += post_s;
    if (completions_.any()) hold_s += completions_.signal_s(id);
  }
  if (adds_up()) {
    add_post(lanes.lane_of(id.value), hold_s, delay_s, switch_s);
  }
  lanes.hold(id.value, hold_s > 0);
  end_at(now_s_ + hold_s, {id, Kind::kLaneEnd});
  return true;
}

// It is with the NIC when the lane has posted it, from `wait_s` on.
void Execution::post_bundle(OpId oldest, double wait_s) {
  end_at(now_s_ + wait_s + bundle_post_s(oldest), {oldest, Kind::kBundlePosted});
}

// One signal for all of it.
double Execution::bundle_post_s(OpId oldest) const {
  const double post_s = post_time_s(schedule_, platform_, op(oldest)) + bundle_delay_s(oldest);
  return completions_.any() ? post_s + completions_.signal_s(oldest) : post_s;
}

// How much of that is a straggler's.
double Execution::bundle_delay_s(OpId oldest) const {
  return bundle_delays_.post_s(op(oldest).channel);
}

// How many completions its own waits for.
void Execution::count_completions(OpId oldest) {
  std::uint32_t& left = unacknowledged_[oldest.value];
  left = 0;
  for (OpId m = oldest; m.valid(); m = behind(m)) ++left;
}

void Execution::bundle_posted(OpId oldest) {
  const std::uint32_t lane = bundles_.held_lane(oldest);
  if (lane != GatheredMessages::kNone) core_.lanes().release(lane, now_s_);
  bundles_.under_way(oldest);
  if (sees_) count_completions(oldest);
  queue_message(oldest);
}

// An initiator of a channel that gathers is issued.
void Execution::gather_or_send(OpId id) {
  if (!bundles_.is_gathered(id)) {
    bundles_.alone(id);
    if (sees_) count_completions(id);
    queue_message(id);
    return;
  }
  const sched::ChannelId channel = op(id).channel;
  bundles_.add(id, now_s_);
  const BundleLine& rule = bundles_.rule(channel);
  if (rule.is_full()) {
    Lanes& lanes = core_.lanes();
    const OpId oldest = bundles_.take(channel, lanes.lane_of(id.value));
    const double post_s = bundle_post_s(oldest);
    if (adds_up()) add_post(lanes.lane_of(id.value), post_s, bundle_delay_s(oldest), 0);
    lanes.hold(id.value, post_s > 0);  // still
    post_bundle(oldest, 0);
  } else if (rule.is_free_to_leave()) {
    bundle_due(channel);
  } else if (bundles_.open(channel).oldest == id && std::isfinite(rule.due_s())) {
    end_at(rule.due_s(), {id, Kind::kBundleDue});
  }
}

void Execution::bundle_due(sched::ChannelId channel) {
  GatheredMessages::Open& open = bundles_.open(channel);
  if (!open.oldest.valid() || open.awaits_lane) return;
  open.awaits_lane = true;
  core_.lanes().add(open.oldest.value, now_s_, open.serial);
}

// The oldest message of a bundle has waited as long as it may, if that bundle is still there.
void Execution::bundle_old(OpId oldest) {
  const sched::ChannelId channel = op(oldest).channel;
  const bool still_open = bundles_.open(channel).oldest == oldest;
  if (still_open && now_s_ + kInstant_s > bundles_.rule(channel).due_s()) bundle_due(channel);
}

// A message's end makes room in the window.
void Execution::done_in_window(OpId id) {
  bundles_.done(id);
  if (bundles_.rule(op(id).channel).is_free_to_leave()) bundle_due(op(id).channel);
}

}  // namespace slackline::machine
