#include "machine/run/bundle_delays.h"

#include <algorithm>

#include "machine/lane.h"

namespace slackline::machine {

using sched::OpKind;

BundleDelays::BundleDelays(const DelayPlan& plan, const sched::Schedule& schedule,
                           const Platform& platform)
    : schedule_(schedule), platform_(platform), straggling_(plan, schedule.rank_count()) {}

bool BundleDelays::strike(sched::RankId rank) const {
  return schedule_.has_bundles() && straggling_.more_s(rank, 1) > 0;
}

double BundleDelays::copied_s(sched::OpId op) const {
  const sched::Op& o = schedule_.op(op);
  const double copy_s = platform_.copy_s(schedule_.payload_bytes(o));
  return straggling_.more_s(o.rank, copy_s) - post_s(o.channel);
}

double BundleDelays::post_s(sched::ChannelId channel) const {
  sched::Op post;
  post.kind = OpKind::kSend;
  post.channel = channel;
  return straggling_.more_s(schedule_.channel(channel).src,
                            post_time_s(schedule_, platform_, post));
}

double BundleDelays::most_s(sched::RankId rank) const {
  double sum_s = 0;
  for (sched::OpId id = schedule_.first_op(rank); id < schedule_.end_op(rank); ++id.value) {
    const sched::Op& op = schedule_.op(id);
    if (!op.channel.valid() || op.kind == OpKind::kRecv) continue;
    if (schedule_.channel(op.channel).bundle == sched::Bundle::kNone) continue;
    sum_s += post_s(op.channel);
    if (op.kind == OpKind::kSend || op.kind == OpKind::kPut) sum_s += std::max(0.0, copied_s(id));
  }
  return sum_s;
}

}  // namespace slackline::machine
