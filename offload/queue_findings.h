// What the parts of check_queues() share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "offload/check_queues.h"
#include "offload/completions.h"

namespace slackline::offload {

/// Diagnostics up to a number.
class QueueFindings {
 public:
  explicit QueueFindings(std::size_t most) : most_(most == 0 ? 1 : most) {}
  void add(QueueCode code, QueueId queue, std::string message) {
    if (found_.size() < most_) found_.push_back({code, queue, std::move(message)});
  }
  bool empty() const { return found_.empty(); }
  QueueDiagnostics take() { return std::move(found_); }

 private:
  std::size_t most_;
  QueueDiagnostics found_;
};

/// A completion queue and the count that says that something is done.
struct Need {
  CqId cq;
  std::uint64_t count = 0;
  friend bool operator==(Need, Need) = default;
};

/// The program beside the schedule: where each operation stands, and what each entry needs.
class ProgramIndex {
 public:
  /// With `findings`, says what does not fit the schedule; without, the program must fit.
  ProgramIndex(const QueueProgram& program, const sched::Schedule& schedule,
               const MessageGraph& graph, QueueFindings& findings);

  const QueueProgram& program;
  const sched::Schedule& schedule;
  const MessageGraph& graph;
  const QueueCompletions completions;

  EntryRef entry_of(sched::OpId op) const { return entry_of_[op.value]; }
  /// The entry's place among the messages of its queue, or the receives.
  std::uint32_t place(const Queue& queue, std::uint32_t entry) const {
    return place_[queue.first + entry];
  }
  /// Where the message that is to be sent by this entry stands in MessageGraph::order().
  std::uint32_t turn(MessageId id) const { return turn_[id.value]; }

  /// What must be known before this data message is sent.
  std::vector<Need> needs_of_message(QueueId queue, std::uint32_t entry) const;
  /// Of those, the one for its receive to be posted; no cq if readiness is not asked for.
  Need readiness_of_message(QueueId queue, std::uint32_t entry) const;

 private:
  void place_entries(QueueFindings& findings);
  Need done(sched::OpId op) const;
  void check_message(QueueId queue, std::uint32_t entry, QueueFindings& findings);

  std::vector<EntryRef> entry_of_;
  std::vector<std::uint32_t> place_;
  std::vector<std::uint32_t> turn_;
  std::vector<MessageId> elsewhere_;  // last_elsewhere()
  std::vector<QueueId> ready_of_;     // by data send queue, the receive queue of its grants
};

/// Enables, order, and waits for more than is needed.
void check_order(const ProgramIndex& index, QueueFindings& findings);
/// Deadlock, and what messages may rest on.
void check_greedy_run(const ProgramIndex& index, QueueFindings& findings);
/// Depth, counters, capabilities.
void check_limits(const ProgramIndex& index, const NicLimits& limits, QueueFindings& findings);

}  // namespace slackline::offload
