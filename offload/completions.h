// Which entries make a completion queue's completions.
#pragma once

#include <cstdint>
#include <vector>

#include "offload/queue_program.h"

namespace slackline::offload {

/// An entry by its queue and its place there.
struct EntryRef {
  QueueId queue;
  std::uint32_t entry = 0;
  friend bool operator==(EntryRef, EntryRef) = default;
};

/// By completion queue, the entries whose completions go there, in the order of queues and entries.
/// Where one queue alone makes them, the i-th is the completion with count start + i + 1.
class QueueCompletions {
 public:
  explicit QueueCompletions(const QueueProgram& program);

  /// The queues that make completions in it.
  const std::vector<QueueId>& producers(CqId cq) const { return producers_[cq.value]; }
  /// How many completions the program adds.
  std::uint64_t count(CqId cq) const { return of_[cq.value].size(); }
  /// The entry that makes completion `count`; with no queue if it never comes, or was there before.
  EntryRef maker(CqId cq, std::uint64_t count) const {
    const std::uint64_t start = program_.cq(cq).start;
    if (count <= start || count - start > of_[cq.value].size()) return {};
    return of_[cq.value][count - start - 1];
  }
  /// The count of the completion that the entry makes, by the entry's place in the program's table;
  /// 0 if it makes none.
  std::uint64_t count_of(std::uint32_t entry) const { return count_[entry]; }

 private:
  const QueueProgram& program_;
  std::vector<std::vector<QueueId>> producers_;
  std::vector<std::vector<EntryRef>> of_;
  std::vector<std::uint64_t> count_;
};

}  // namespace slackline::offload
