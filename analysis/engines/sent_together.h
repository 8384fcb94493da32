// Which operations' messages left as one, as a trace tells: a channel that gathers sends a bundle
// as one message, which has packets and a time on the wire of its own.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// visit(id, op, times) for each initiator whose message began to leave, and how often: without a
/// trace, each once. With gets and atomics it is the reply.
template <class Visit>
void each_sent(const sched::Schedule& schedule, const sched::Trace* trace, Visit&& visit) {
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind)) continue;
    if (trace != nullptr && !std::isfinite(trace->ops[i].wire_s)) continue;
    const std::uint64_t times = trace == nullptr ? 1 : trace->ops[i].attempts;
    if (times != 0) visit(sched::OpId(i), op, times);
  }
}

class SentTogether {
 public:
  /// Of a channel that gathers, what left in one instant was one message. Without a trace, each
  /// operation's message is alone. The schedule must outlive this.
  SentTogether(const sched::Schedule& schedule, const sched::Trace* trace);

  /// Whether the operation, an initiator, is the first of those in its message.
  bool stands_for_all(sched::OpId op) const { return first_.empty() || first_[op.value] == op; }
  /// Of the message that the operation, an initiator, was in.
  std::uint64_t bytes(sched::OpId op) const {
    if (first_.empty()) return schedule_.payload_bytes(schedule_.op(op));
    return bytes_[first_[op.value].value];
  }

 private:
  const sched::Schedule& schedule_;
  std::vector<sched::OpId> first_;    // of each operation's message; empty if each is alone
  std::vector<std::uint64_t> bytes_;  // of the first of each message; likewise
};

/// As each_sent(), with what left: visit(id, op, bytes, times). `bytes`: of an operation that left
/// alone, its own; of those that left as one message, all of theirs at the first, 0 at the others.
template <class Visit>
void each_message(const sched::Schedule& schedule, const sched::Trace* trace, const Visit& visit) {
  const SentTogether together(schedule, trace);
  each_sent(schedule, trace, [&](sched::OpId id, const sched::Op& op, std::uint64_t times) {
    visit(id, op, together.stands_for_all(id) ? together.bytes(id) : 0, times);
  });
}

}  // namespace slackline::analysis
