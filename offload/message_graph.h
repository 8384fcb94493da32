// A schedule as what NIC queues can carry out: messages, and the receives that each must wait for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sched/schedule.h"

namespace slackline::offload {

using MessageId = sched::Id<struct MessageTag>;

struct Message {
  sched::OpId source;   // send, or put with immediate
  sched::OpId receive;  // its match
  sched::ChannelId channel;
  sched::RankId src;
  sched::RankId dst;
  std::uint32_t step = 0;    // of the source
  std::uint32_t latest = 0;  // the step at which it must start if nothing is to end later
};

/// What the queues must keep of a schedule. Left out, since the queues have their own:
///  - credits: operations on a channel that others name as `credit_on`, and the polls that see
///  them;
///  - pacing: that a message waits for an earlier one of its rank to be sent, unless it is part of
///  a
///    barrier, and that a receive is posted late. Nothing rests on either, since every byte of
///    memory is written once (anything else is refused).
class MessageGraph {
 public:
  /// Throws Unsupported, naming the operation and the reason, on a schedule that is not static and
  /// on operations that no queue can carry out; InputError on one that deadlocks or lacks matches.
  explicit MessageGraph(const sched::Schedule& schedule);

  std::span<const Message> messages() const { return messages_; }
  const Message& message(MessageId id) const { return messages_[id.value]; }
  /// The message that an operation is an end of; none() if of none.
  MessageId of(sched::OpId op) const { return of_op_[op.value]; }

  /// The operations of its rank that must be done before the message is sent: of each channel only
  /// the last, receives, and in barriers sends. In the order of their ids.
  std::span<const sched::OpId> needs(MessageId id) const {
    return std::span(needs_).subspan(needs_begin_[id.value],
                                     needs_begin_[id.value + 1] - needs_begin_[id.value]);
  }

  /// The message before it on its channel, if any.
  MessageId previous(MessageId id) const { return previous_[id.value]; }

  /// All messages in an order that keeps needs and the order of every channel; among those that
  /// may come next the one with the least (step, latest, operation). Queues that follow it, each
  /// its part, cannot wait in a circle.
  std::span<const MessageId> order() const { return order_; }
  /// Whether every message's needs come in at earlier steps than its own, and both its ends are of
  /// one step: then a rank's work may be grouped by step.
  bool by_steps() const { return by_steps_; }

  /// Where the payload of a message lands, at its destination.
  sched::SliceRange landing(const sched::Schedule& schedule, const Message& message) const {
    const sched::Op& source = schedule.op(message.source);
    return source.kind == sched::OpKind::kPut ? source.writes : schedule.op(message.receive).writes;
  }

 private:
  void collect(const sched::Schedule& schedule);
  void find_needs(const sched::Schedule& schedule);
  void sort(const sched::Schedule& schedule);

  std::vector<char> is_credit_;  // by channel
  std::vector<Message> messages_;
  std::vector<MessageId> previous_;
  std::vector<MessageId> of_op_;
  std::vector<std::uint32_t> needs_begin_;
  std::vector<sched::OpId> needs_;
  std::vector<MessageId> order_;
  bool by_steps_ = true;
};

/// Where several queue pairs share a channel: by message, the last one before it that goes through
/// another queue than its own, if any. Queue pairs do not keep each other's order, so who needs a
/// message must know of that one, too. `queue_of` says which queue a message goes through.
template <class QueueOf>
std::vector<MessageId> last_elsewhere(const MessageGraph& graph, QueueOf&& queue_of) {
  std::vector<MessageId> all(graph.messages().size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const MessageId before = graph.previous(MessageId(i));
    if (!before.valid()) continue;
    all[i] = queue_of(before) == queue_of(MessageId(i)) ? all[before.value] : before;
  }
  return all;
}

}  // namespace slackline::offload
