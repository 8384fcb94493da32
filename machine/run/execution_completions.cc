// The part of machine/run/execution.h in which a rank's program sees completions: where the
// platform has o_poll or o_match, that takes its lane.
//
// A completion is there o_complete after its event at the NIC, and waits until the lane is free.
// Then one look of o_poll takes up to poll_batch of those that wait, and o_match for each receive
// among them. All of them are done at its end. Completions come before operations: a program that
// has something to post looks at its queue first.
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
  for (const OpId id : batch) hold_s += completions_.match_s(id);
  core_.lanes().hold(batch.front().value, hold_s > 0);
  end_at(now_s_ + hold_s, {batch.front(), Kind::kSeen});
  return true;
}

void Execution::seen(OpId first) {
  const std::uint32_t lane = core_.lanes().lane_of(first.value);
  core_.lanes().release(lane, now_s_);
  for (const OpId id : queues_.seen(lane)) done(id);
  queues_.forget(lane);
}

}  // namespace slackline::machine
