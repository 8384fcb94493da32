// The part of machine/run/execution.h in which a rank's program sees completions: where the
// platform has o_poll or o_match, that takes its lane.
//
// A completion is there o_complete after its event at the NIC, and waits until the lane is free.
// Then one look of o_poll takes up to poll_batch of those that wait, and o_match for each receive
// among them, o_block if it has data, and o_callback if it is the last of its message. All of them
// are done at its end. Completions come before operations: a program that
// has something to post looks at its queue first.
//
// With poll_for a lane that has had nothing to do for so long is asleep, and a completion that
// comes then is seen after an interrupt, by the same look. Whoever waits for memory to change (a
// poll) does not sleep meanwhile, and has had something to do until then.
//
// With completions=service a thread of its own looks, on the core that the lane stands for. Then
// o_complete does not pass before a completion waits: each takes so much of its look. Whenever the
// lane's turn goes from an operation to a look, or back, switch_cost passes first.
//
// A bundle has one completion at its sender, when the last of its messages is acknowledged, in the
// queue of its oldest message's lane; and one at its receiver, of all receives that it finds
// posted, in the queue of the first one's. Each takes one place in a look.
#include "machine/run/execution.h"

namespace slackline::machine {

void Execution::completed(OpId id) {
  if (bundled_) return completed_in_bundle(id);
  const std::uint32_t lane = core_.lanes().lane_of(id.value);
  queues_.add(lane, id);
  core_.lanes().call(lane);
}

void Execution::completed_in_bundle(OpId id) {
  OpId named = id;
  if (op(id).kind == OpKind::kRecv) {
    next_received_[id.value] = OpId::none();
    const OpId oldest = bundle_of_receive_[id.value];
    if (oldest.valid()) {
      // Those of one bundle come in one instant, and so before the look that takes the first.
      OpId& first = first_received_[oldest.value];
      const OpId last = std::exchange(last_received_[oldest.value], id);
      if (first.valid()) {
        next_received_[last.value] = id;
        return;
      }
      first = id;
    }
  } else if (bundles_.concern(op(id))) {
    named = bundles_.oldest_with(id);
    if (--unacknowledged_[named.value] != 0) return;
  }
  const std::uint32_t lane = core_.lanes().lane_of(named.value);
  queues_.add(lane, named);
  core_.lanes().call(lane);
}

// Answers whether the lane's turn is a look.
bool Execution::serve_completions(std::uint32_t lane) {
  if (core_.lanes().is_held(lane) || !queues_.waits(lane)) return false;
  const std::vector<OpId>& batch = queues_.look(lane, completions_.batch());
  const double switch_s = take_core(lane, true);
  double hold_s = completions_.look_s() + switch_s +
                  static_cast<double>(batch.size()) * completions_.handle_s();
  const double interrupt_s =
      completions_.programs_sleep() && is_asleep(lane) ? completions_.interrupt_s() : 0;
  hold_s += interrupt_s;
  if (bundled_) {
    for (const OpId id : batch) {
      if (op(id).kind != OpKind::kRecv || !bundle_of_receive_[id.value].valid()) continue;
      first_received_[bundle_of_receive_[id.value].value] = OpId::none();
    }
  }
  const auto each_seen = [&](const auto& visit) {
    for (const OpId id : batch) each_in_completion(id, visit);
  };
  each_seen([&](OpId id) { hold_s += completions_.match_s(id); });
  const double callback_s = completions_.callback_s() > 0 ? callbacks_s(batch) : 0;
  hold_s += callback_s;
  if (adds_up()) {
    double block_s = callback_s;
    each_seen([&](OpId id) { block_s += completions_.block_s(id); });
    const double kernel_s = interrupt_s + switch_s;
    add_look(lane, kernel_s, hold_s - kernel_s - block_s, block_s);
  }
  core_.lanes().hold(batch.front().value, hold_s > 0);
  end_at(now_s_ + hold_s, {batch.front(), Kind::kSeen});
  return true;
}

// Of the messages of which a look takes the last receive.
double Execution::callbacks_s(const std::vector<OpId>& batch) {
  double sum_s = 0;
  for (const OpId named : batch) {
    each_in_completion(named, [&](OpId id) {
      const std::uint32_t message = completions_.message_of(id);
      if (message != Completions::kNone && queues_.completes(message)) {
        sum_s += completions_.callback_s();
      }
    });
  }
  return sum_s;
}

void Execution::add_look(std::uint32_t lane, double interrupt_s, double look_s, double block_s) {
  LaneUse& use = uses_[lane];
  use.hold(now_s_, interrupt_s + look_s + block_s, poll_for_s());
  use.interrupt_s += interrupt_s;
  use.look_s += look_s;
  use.block_s += block_s;
}

bool Execution::is_asleep(std::uint32_t lane) const {
  if (queues_.watches(lane)) return false;
  const double idle_since_s =
      std::max({0.0, core_.lanes().released(lane), queues_.watched_until(lane)});
  return now_s_ >= idle_since_s + completions_.poll_for_s() + kInstant_s;
}

void Execution::seen(OpId first) {
  const std::uint32_t lane = core_.lanes().lane_of(first.value);
  core_.lanes().release(lane, now_s_);
  for (const OpId named : queues_.seen(lane)) {
    each_in_completion(named, [&](OpId id) { done(id); });
  }
  queues_.forget(lane);
}

}  // namespace slackline::machine
