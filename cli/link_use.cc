#include "cli/link_use.h"

#include <utility>

namespace slackline::cli {

LinkUse link_use(const sched::Schedule& schedule) {
  LinkUse use;
  use.out_bytes.resize(schedule.rank_count());
  use.in_bytes.resize(schedule.rank_count());
  for (const sched::Op& op : schedule.ops()) {
    if (!sched::is_initiator(op.kind)) continue;
    const sched::Channel& channel = schedule.channel(op.channel);
    sched::RankId from = channel.src;
    sched::RankId to = channel.dst;
    if (op.kind == sched::OpKind::kGet || sched::is_atomic(op.kind)) std::swap(from, to);
    const std::uint64_t bytes = schedule.payload_bytes(op);
    use.out_bytes[from.value] += bytes;
    use.in_bytes[to.value] += bytes;
  }
  return use;
}

std::vector<double> utilisation(const std::vector<std::uint64_t>& bytes,
                                const machine::Platform& platform, double makespan_s) {
  std::vector<double> shares;
  shares.reserve(bytes.size());
  for (const std::uint64_t moved : bytes) {
    shares.push_back(makespan_s > 0 ? platform.transfer_s(moved) / makespan_s : 0.0);
  }
  return shares;
}

}  // namespace slackline::cli
