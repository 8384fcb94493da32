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
// poll) does not sleep meanwhile.
#include "machine/run/execution.h"

namespace slackline::machine {

void Execution::completed(OpId id) {
  const std::uint32_t lane = core_.lanes().lane_of(id.value);
  queues_.add(lane, id);
  core_.lanes().call(lane);
}

// Answers whether the lane's turn is a look.
bool Execution::serve_completions(std::uint32_t lane) {
  if (core_.lanes().is_held(lane) || !queues_.waits(lane)) return false;
  const std::vector<OpId>& batch = queues_.look(lane, completions_.batch());
  double hold_s = completions_.look_s();
  const double interrupt_s =
      completions_.programs_sleep() && is_asleep(lane) ? completions_.interrupt_s() : 0;
  hold_s += interrupt_s;
  for (const OpId id : batch) hold_s += completions_.match_s(id);
  const double callback_s = completions_.callback_s() > 0 ? callbacks_s(batch) : 0;
  hold_s += callback_s;
  if (adds_up()) {
    double block_s = callback_s;
    for (const OpId id : batch) block_s += completions_.block_s(id);
    add_look(lane, interrupt_s, hold_s - interrupt_s - block_s, block_s);
  }
  core_.lanes().hold(batch.front().value, hold_s > 0);
  end_at(now_s_ + hold_s, {batch.front(), Kind::kSeen});
  return true;
}

// Of the messages of which a look takes the last receive.
double Execution::callbacks_s(const std::vector<OpId>& batch) {
  double sum_s = 0;
  for (const OpId id : batch) {
    const std::uint32_t message = completions_.message_of(id);
    if (message != Completions::kNone && queues_.completes(message)) {
      sum_s += completions_.callback_s();
    }
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
  const double idle_since_s = std::max(0.0, core_.lanes().released(lane));
  return now_s_ >= idle_since_s + completions_.poll_for_s() + kInstant_s;
}

void Execution::seen(OpId first) {
  const std::uint32_t lane = core_.lanes().lane_of(first.value);
  core_.lanes().release(lane, now_s_);
  for (const OpId id : queues_.seen(lane)) done(id);
  queues_.forget(lane);
}

}  // namespace slackline::machine
