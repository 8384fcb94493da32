#include "machine/atomic_service.h"

#include <algorithm>

#include "machine/event_queue.h"

namespace slackline::machine {

double read_s(const Platform& platform, bool local) {
  return local ? 0 : sched::seconds(platform.nic_read);
}

double service_s(const Platform& platform, bool local) {
  return sched::seconds(local ? platform.node.cpu_atomic : platform.atomic_service);
}

bool service_depends_on_others(const Platform& platform) {
  return platform.atomic_service_shared.count() > 0 ||
         (platform.node.is_shared() && platform.node.cpu_atomic_sharer.count() > 0);
}

AtomicService::AtomicService(const sched::Schedule& schedule, const Platform& platform,
                             const Paths& paths)
    : schedule_(schedule),
      paths_(paths),
      by_nic_s_(service_s(platform, false)),
      by_cpu_s_(service_s(platform, true)),
      waited_s_(sched::seconds(platform.atomic_service_shared)),
      sharer_s_(sched::seconds(platform.node.cpu_atomic_sharer)),
      arrived_s_(waited_s_ > 0 ? schedule.op_count() : 0, 0) {}

double AtomicService::serve_s(sched::OpId op, sched::BufferId buffer, std::uint64_t offset,
                              double now_s) {
  const sched::Op& o = schedule_.op(op);
  const Path& way = paths_.like(paths_.of(o.channel, false));
  if (way.to_switch) return 0;
  if (way.passes_no_nic()) {
    return sharer_s_ > 0 ? by_cpu_s_ + sharers_s(o.rank, buffer, offset) : by_cpu_s_;
  }
  const bool waited = !arrived_s_.empty() && now_s >= arrived_s_[op.value] + kInstant_s;
  return waited ? by_nic_s_ + waited_s_ : by_nic_s_;
}

double AtomicService::sharers_s(sched::RankId rank, sched::BufferId buffer, std::uint64_t offset) {
  std::vector<sched::RankId>& users = users_[{offset / Node::kLine, buffer.value}];
  const auto place = std::lower_bound(users.begin(), users.end(), rank);
  if (place == users.end() || *place != rank) users.insert(place, rank);
  return sharer_s_ * static_cast<double>(users.size() - 1);
}

}  // namespace slackline::machine
