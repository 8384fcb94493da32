// The queues of all NICs as the hardware has them, with counters that wrap: 24 bits for completion
// queues, 16 for work queues. What may happen next is theirs; when it does is a clock's
// (emulate.h, emulate_timed.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "offload/memory_map.h"
#include "offload/message_graph.h"
#include "offload/queue_program.h"
#include "sched/trace.h"

namespace slackline::offload {

class NicQueues {
 public:
  /// What the head of a queue can do now.
  enum class Next : std::uint8_t {
    kNothing,  // it has none, or it is not enabled, or it waits
    kLocal,    // a wait that is met, an enable, a nop
    kMessage,
  };

  /// All references must outlive this.
  NicQueues(const QueueProgram& program, const sched::Schedule& schedule, const MessageGraph& graph,
            const MemoryMap& memory);

  /// As it was made; `now_s` is 0.
  void reset();

  /// The host posts the rank's entries and rings its doorbells.
  void start(sched::RankId rank);
  Next next(QueueId queue);
  void do_local(QueueId queue);
  /// The message at the head is read from memory and leaves; the head moves on.
  void send(QueueId queue);
  /// The first message of this send queue that is under way reaches the other end. False if no
  /// receive is posted there: it must be tried again when woken() names the receive queue.
  bool arrive(QueueId queue);
  /// The first message that landed and is not acknowledged is.
  void acknowledge(QueueId queue);

  std::uint32_t under_way(QueueId queue) const { return sent_[queue.value] - landed_[queue.value]; }
  std::uint32_t to_acknowledge(QueueId queue) const {
    return landed_[queue.value] - acknowledged_[queue.value];
  }
  /// The entry at the head of the queue, or the last one sent.
  std::uint32_t head(QueueId queue) const { return head_[queue.value]; }

  /// Queues whose next() may have changed since it was last asked for, each at least once; of
  /// receive queues, that more is posted. Cleared by the caller.
  std::vector<QueueId>& woken() { return woken_; }

  /// To be called when nothing can happen any more: what is stuck, what the contract misses.
  void finish();
  /// What went wrong, in the order in which it did, at most ten of them.
  const std::vector<std::string>& faults() const { return faults_; }
  /// Messages that came before their receive was posted.
  std::uint64_t not_ready() const { return not_ready_; }
  /// Queues that did not come to their end.
  std::uint32_t stuck() const { return stuck_; }

  double now_s = 0;
  /// By operation of the schedule; infinite where it never happened.
  std::vector<sched::OpTimes> times;

 private:
  const Entry& entry(QueueId queue, std::uint32_t e) const {
    return program_.entries()[program_.queue(queue).first + e];
  }
  bool is_enabled(QueueId queue);
  bool is_met(const Entry& wait) const;
  void complete(CqId cq);
  void fault(std::string what) {
    if (faults_.size() < 10) faults_.push_back(std::move(what));
  }
  void check_held(QueueId queue, std::uint32_t e);

  const QueueProgram& program_;
  const sched::Schedule& schedule_;
  const MessageGraph& graph_;
  const MemoryMap& map_;
  std::vector<std::vector<std::uint32_t>> messages_;  // by send queue, the entries that are ones

  std::vector<std::uint32_t> cq_index_;  // 24 bits: of the next completion
  std::vector<std::vector<QueueId>> waiting_;
  // By queue:
  std::vector<std::uint16_t> limit_;  // as the hardware has it
  std::vector<std::uint32_t> head_;   // from the program's first entry on
  std::vector<std::uint32_t> sent_;
  std::vector<std::uint32_t> landed_;
  std::vector<std::uint32_t> acknowledged_;
  std::vector<char> started_;  // by rank
  std::vector<char> ran_past_;

  std::vector<CellContent> cells_;
  std::vector<CellContent> carried_;  // what each message read, at MemoryMap::first()
  std::vector<char> done_;            // by operation
  std::vector<QueueId> woken_;
  std::vector<std::string> faults_;
  std::uint64_t not_ready_ = 0;
  std::uint32_t stuck_ = 0;
};

}  // namespace slackline::offload
