#include "analysis/engines/sent_together.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace slackline::analysis {

SentTogether::SentTogether(const sched::Schedule& schedule, const sched::Trace* trace)
    : schedule_(schedule) {
  const bool gathers = std::ranges::any_of(schedule.channels(), [](const sched::Channel& channel) {
    return channel.bundle != sched::Bundle::kNone;
  });
  if (trace == nullptr || !gathers) return;
  bytes_.resize(schedule.op_count());
  // By channel, instant, and how often they ran.
  std::map<std::tuple<std::uint32_t, double, std::uint32_t>, sched::OpId> first;
  first_.reserve(schedule.op_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    const sched::OpId id(i);
    first_.push_back(id);
    if (!sched::is_initiator(op.kind)) continue;
    if (!sched::has_reply(op.kind) && std::isfinite(trace->ops[i].wire_s) &&
        schedule.channel(op.channel).bundle != sched::Bundle::kNone) {
      const sched::OpTimes& times = trace->ops[i];
      const std::tuple when(op.channel.value, times.wire_s, times.attempts);
      first_.back() = first.try_emplace(when, id).first->second;
    }
    bytes_[first_.back().value] += schedule.payload_bytes(op);
  }
}

}  // namespace slackline::analysis
