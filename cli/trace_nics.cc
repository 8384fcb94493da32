#include "cli/trace_nics.h"

#include <cstdint>
#include <string>
#include <vector>

#include "machine/platform.h"
#include "machine/rails.h"

namespace slackline::cli {

sched::TimelineNics nics_of(const sched::Schedule& schedule, const sched::Trace& trace) {
  sched::TimelineNics nics;
  // Of any other nothing is read: its files may have gone.
  if (trace.platform.find(",rails=") == std::string::npos) return nics;
  const machine::Node node = machine::parse_platform_spec(trace.platform).node;
  if (!node.rails.are_several()) return nics;
  const std::vector<std::uint32_t> numbers = machine::numbers_for_rails(schedule, node.rails);
  for (std::uint32_t i = 0; i < schedule.channels().size(); ++i) {
    const sched::Channel& channel = schedule.channels()[i];
    const auto rail = [&](sched::RankId rank, sched::RankId peer) {
      return node.nic(rank, peer, numbers[i]).value % node.rails.count;
    };
    nics.at_source.push_back(rail(channel.src, channel.dst));
    nics.at_target.push_back(rail(channel.dst, channel.src));
  }
  return nics;
}

}  // namespace slackline::cli
