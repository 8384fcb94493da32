#include "machine/timeline_nics.h"

#include <cstdint>
#include <vector>

#include "machine/rails.h"

namespace slackline::machine {

sched::TimelineNics timeline_nics(const sched::Schedule& schedule, const Node& node) {
  sched::TimelineNics nics;
  if (!node.rails.are_several() && !node.scale_up.any()) return nics;
  const std::vector<std::uint32_t> numbers = numbers_for_rails(schedule, node.rails);
  for (std::uint32_t i = 0; i < schedule.channels().size(); ++i) {
    const sched::Channel& channel = schedule.channels()[i];
    const auto rail = [&](sched::RankId rank, sched::RankId peer) {
      if (node.scales_up(rank, peer)) return sched::TimelineNics::kScaleUp;
      return node.nic(rank, peer, numbers[i]).value % node.rails.count;
    };
    nics.at_source.push_back(rail(channel.src, channel.dst));
    nics.at_target.push_back(rail(channel.dst, channel.src));
  }
  return nics;
}

}  // namespace slackline::machine
