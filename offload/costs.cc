#include "offload/costs.h"

#include <algorithm>

namespace slackline::offload {

std::vector<RankCosts> costs_of(const QueueProgram& program) {
  std::vector<RankCosts> all(program.rank_count());
  std::vector<Purpose> of_cq(program.cqs().size(), Purpose::kData);
  std::vector<char> counted(program.queues().size(), 0);
  for (const Queue& q : program.queues()) of_cq[q.cq.value] = q.purpose;
  for (const CompletionQueue& cq : program.cqs()) ++all[cq.rank.value].cqs;
  for (const Queue& q : program.queues()) {
    RankCosts& costs = all[q.rank.value];
    if (!counted[q.pair]) ++costs.pairs;
    counted[q.pair] = 1;
    costs.entries += q.count;
    costs.depth = std::max<std::uint64_t>(costs.depth, q.count);
    if (q.purpose == Purpose::kOrder) {
      costs.management_depth = std::max<std::uint64_t>(costs.management_depth, q.count);
    }
    if (q.purpose == Purpose::kCollect) costs.collector += q.count;
    if (!q.managed && q.count != 0) ++costs.doorbells;
    const bool grants = q.purpose == Purpose::kReady || q.purpose == Purpose::kCredit;
    if (grants && q.kind == QueueKind::kSend) costs.grant_entries += q.count;
    for (const Entry& entry : program.entries(q)) {
      if (is_message(entry.kind)) ++(grants ? costs.grants : costs.sends);
      if (entry.kind == EntryKind::kRecv && !grants) ++costs.receives;
      if (grants || q.purpose == Purpose::kCollect) continue;
      if (entry.kind == EntryKind::kWait) {
        ++(of_cq[entry.target] == Purpose::kData ? costs.waits : costs.readiness_waits);
      } else if (is_enable(entry.kind) &&
                 program.queues()[entry.target].kind != QueueKind::kManagement) {
        ++costs.enables;
      }
    }
  }
  return all;
}

RankCosts worst(const std::vector<RankCosts>& costs) {
  RankCosts most;
  for (const RankCosts& of : costs) {
    for (const auto figure :
         {&RankCosts::sends, &RankCosts::receives, &RankCosts::waits, &RankCosts::enables,
          &RankCosts::readiness_waits, &RankCosts::grants, &RankCosts::grant_entries,
          &RankCosts::collector, &RankCosts::entries, &RankCosts::management_depth,
          &RankCosts::depth, &RankCosts::pairs, &RankCosts::cqs, &RankCosts::doorbells}) {
      most.*figure = std::max(most.*figure, of.*figure);
    }
  }
  return most;
}

}  // namespace slackline::offload
