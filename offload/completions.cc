#include "offload/completions.h"

namespace slackline::offload {

QueueCompletions::QueueCompletions(const QueueProgram& program)
    : program_(program),
      producers_(program.cqs().size()),
      of_(program.cqs().size()),
      count_(program.entries().size(), 0) {
  for (std::uint32_t i = 0; i < program.queues().size(); ++i) {
    const Queue& q = program.queues()[i];
    const std::uint64_t start = program.cq(q.cq).start;
    for (std::uint32_t e = 0; e < q.count; ++e) {
      if (!completes(program.entries(q)[e])) continue;
      auto& producers = producers_[q.cq.value];
      if (producers.empty() || producers.back() != QueueId(i)) producers.push_back(QueueId(i));
      of_[q.cq.value].push_back({QueueId(i), e});
      count_[q.first + e] = start + of_[q.cq.value].size();
    }
  }
}

}  // namespace slackline::offload
