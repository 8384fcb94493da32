// The queue pairs of a schedule's channels, which the compiler fills: what goes through which, and
// where its completion is counted.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "offload/compile_queues.h"
#include "offload/message_graph.h"
#include "offload/queue_program.h"
#include "sched/schedule.h"

namespace slackline::offload {

class EdgeQueues {
 public:
  /// A run of one channel's messages that has a queue pair of its own.
  struct Part {
    QueueId send;
    QueueId receive;
    QueueId ready;         // at the sender: receives handshakes or credits
    QueueId grant;         // at the receiver: sends them
    MessageId takes_over;  // the last message of the channel's part before, if any
    std::uint32_t messages = 0;
    std::uint64_t sent = 0;  // the count of the send's completion queue in the end
  };

  /// Adds the queues to `out`, without entries. Keeps references to all. Throws Unsupported, naming
  /// the operation, on messages that the limits do not allow.
  EdgeQueues(const sched::Schedule& schedule, const MessageGraph& graph,
             const QueueOptions& options, QueueProgramBuilder& out);

  const std::vector<Part>& parts() const { return parts_; }
  const Part& of(MessageId id) const { return parts_[part_[id.value]]; }
  /// The message's place in its part.
  std::uint32_t place(MessageId id) const { return place_[id.value]; }
  /// Whether somebody waits for the send's completion: barriers, the collector, and in RDMC's order
  /// the next step.
  bool is_signaled(MessageId id) const { return signaled_[id.value] != 0; }
  /// The message before it on its channel if that goes through another part. Queue pairs do not
  /// keep each other's order; what keeps it is that this one waits for that one's acknowledgement.
  MessageId takes_over(MessageId id) const {
    return place(id) == 0 ? of(id).takes_over : MessageId::none();
  }
  /// Where and at which count an end of a message is known to be done.
  std::pair<CqId, std::uint64_t> completion_of(sched::OpId op) const;

  /// A queue with a completion queue of its own; counts begin where the options say.
  QueueId add_queue(sched::RankId rank, QueueKind kind, Purpose purpose, std::uint32_t pair);
  std::uint32_t new_pair() { return pairs_++; }

 private:
  [[noreturn]] void refuse(sched::OpId op, std::string_view reason) const;
  std::uint32_t most_entries(MessageId id) const;
  void cut_channels();
  std::pair<QueueId, QueueId> connect(sched::RankId src, sched::RankId dst, Purpose purpose,
                                      std::uint32_t src_pair, std::uint32_t dst_pair);
  Part new_part(const Message& m);
  void mark_signaled();

  const sched::Schedule& schedule_;
  const MessageGraph& graph_;
  const QueueOptions& options_;
  QueueProgramBuilder& out_;
  std::vector<Part> parts_;
  std::uint32_t pairs_ = 0;
  // By message:
  std::vector<std::uint32_t> part_;
  std::vector<std::uint32_t> place_;
  std::vector<std::uint8_t> signaled_;
  std::vector<std::uint64_t> sent_count_;  // of its send's completion queue, once it is done
};

}  // namespace slackline::offload
